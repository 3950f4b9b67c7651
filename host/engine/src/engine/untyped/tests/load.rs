//! Tests of loading untyped components: the resulting operators and the refusals.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::error_docs;
use latchwork_core::model::manifest::{Determinism, EffectKind, PluginKind, RecoveryClass, WasiMode};

use crate::capability::EnvOrFile;
use crate::capability::grants::{DirGrant, Grants, HttpGrant, Origin};
use crate::capability::settings::{ManifestSource, OperatorOverride, OperatorSettings, PluginSettings};
use crate::engine::untyped::tests::component_builder::component;
use crate::engine::{Engine, EngineOptions, LoadError, Plugin};

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineOptions::default()).unwrap())
}

/// Settings without grants.
pub(crate) fn settings() -> PluginSettings {
    PluginSettings {
        name: "calc".into(),
        grants: Grants::default(),
        limits: Default::default(),
        wasi: WasiMode::None,
        operators: ManifestSource::default(),
        config: BTreeMap::new(),
        secrets: Arc::new(EnvOrFile { dir: "none".into() }),
        kv: Arc::new(Memory::new(Arc::new(ManualClock::default()), 0)),
        http_stub: None,
        scratch: None,
        interruption: None,
    }
}

fn settings_with_overrides(entries: &[(&str, OperatorOverride)]) -> PluginSettings {
    let stated = entries.iter().map(|(key, statement)| ((*key).to_owned(), statement.clone())).collect();
    PluginSettings { operators: ManifestSource::Overrides(stated), ..settings() }
}

fn operator_override(words: OperatorSettings) -> OperatorOverride {
    OperatorOverride::Stated(words)
}

pub(crate) fn load(wit: &str, settings: PluginSettings) -> Result<Arc<Plugin>, LoadError> {
    engine().load(&component(wit), settings)
}

fn names(plugin: &Plugin) -> Vec<&str> {
    plugin.manifest.operators.iter().map(|spec| spec.name.as_str()).collect()
}

/// Loads a component that must be refused, and returns the text of the refusal. Checks that every problem has the error
/// page `page`.
pub(crate) fn refusal_text(wit: &str, settings: PluginSettings, page: &str) -> String {
    let error = load(wit, settings).unwrap_err();
    assert!(error.problems.iter().all(|problem| problem.page() == page), "{error}");
    error.to_string()
}

const CALC: &str = "package example:calc@1.2.0;
    interface types { record pair { a: u8, b: u8 } }
    interface math { use types.{pair}; add-up: func(p: pair) -> u64; }
    world calc { export math; export negate: func(x: s32) -> s32; }";

const WITH_CLOCK: &str = "package example:calc;
    interface clock { now: func() -> u64; }
    world calc { import clock; export later: func(x: u64) -> u64; }";

/// A component that imports a WASI clock. Tools may import this clock.
const WITH_WASI: &str = "package wasi:clocks@0.2.6;
    interface monotonic-clock { now: func() -> u64; }
    world calc { import monotonic-clock; export later: func(x: u64) -> u64; }";

/// I70: operators are named after exports. An import that contains only types needs no implementation.
#[test]
fn operators_are_named_after_exports() {
    let plugin = load(CALC, settings()).unwrap();
    assert_eq!((plugin.kind, plugin.is_untyped), (PluginKind::Tool, true));
    assert_eq!(names(&plugin), ["calc.negate", "math.add-up"]);
    assert_eq!(plugin.manifest.version, "1.2.0");
    let spec = plugin.operator("math.add-up").unwrap();
    assert_eq!(spec.description, "example:calc/math@1.2.0#add-up: func(p: record { a: u8, b: u8 }) -> u64");
    assert_eq!((spec.effects.as_slice(), spec.determinism), ([EffectKind::ReadOnly].as_slice(), Determinism::Pure));
    let bad = plugin.check_input("math.add-up", &serde_json::json!({"p": {"a": 300, "c": 1}})).unwrap_err();
    assert!(
        ["/p/a is not between 0 and 255", "/p/b is missing: u8", "/p/c is not known"]
            .iter()
            .all(|part| bad.message.contains(part)),
        "{bad}"
    );
}

/// I71: an operator that declares no effects has the worst effects that the grants allow.
#[test]
fn effects_follow_from_imports_and_grants() {
    let origin = Origin { scheme: "https".into(), host: "a.example".into(), port: 443 };
    let http = HttpGrant { methods: vec![http::Method::POST], ..HttpGrant::read_only(origin) };
    let dir = |write| DirGrant { host: std::env::temp_dir(), guest: "/d".into(), write };
    let with = |wit: &str, grants| {
        let plugin = load(wit, PluginSettings { grants, ..settings() }).unwrap();
        let spec = &plugin.manifest.operators[0];
        (spec.effects.clone(), spec.determinism, plugin.class(spec.name.as_str()))
    };
    let grants = Grants { http: vec![http], ..Grants::default() };
    let sends = vec![EffectKind::ExternalWrite, EffectKind::ExternalSend];
    assert_eq!(with(WITH_WASI, grants.clone()), (sends, Determinism::External, RecoveryClass::Opaque));
    let writes = Grants { dirs: vec![dir(true)], ..Grants::default() };
    assert_eq!(
        with(WITH_WASI, writes),
        (vec![EffectKind::ExternalWrite], Determinism::External, RecoveryClass::Opaque)
    );
    let reads = Grants { dirs: vec![dir(false)], ..Grants::default() };
    let looks = vec![EffectKind::ReadOnly];
    assert_eq!(with(WITH_WASI, reads), (looks.clone(), Determinism::External, RecoveryClass::Read));
    // A component without imports cannot use any grant.
    assert_eq!(with(CALC, grants), (looks, Determinism::Pure, RecoveryClass::Read));
}

/// I70: two functions that get the same operator name are refused. An override under the full path of one function can
/// rename or exclude that function.
#[test]
fn functions_with_the_same_operator_name_are_refused() {
    let clash = "package example:calc;
        interface calc { add: func() -> u8; }
        world w { export calc; export add: func() -> u8; }";
    let text = refusal_text(clash, settings(), error_docs::UNTYPED_NAME);
    assert!(text.contains("add and example:calc/calc#add") || text.contains("example:calc/calc#add and add"), "{text}");
    let ambiguous = load(clash, settings_with_overrides(&[("calc.add", OperatorOverride::LeftOut)])).unwrap_err();
    assert_eq!(ambiguous.problems[0].page(), error_docs::UNTYPED_OVERRIDE);
    let text = ambiguous.problems[0].to_string();
    assert!(text.contains("\"add\"") && text.contains("\"example:calc/calc#add\""), "{text}");
    let other = operator_override(OperatorSettings { name: Some("calc.sum".into()), ..Default::default() });
    let plugin = load(clash, settings_with_overrides(&[("example:calc/calc#add", other)])).unwrap();
    let mut both = names(&plugin);
    both.sort_unstable();
    assert_eq!(both, ["calc.add", "calc.sum"]);
    assert_eq!(
        names(&load(clash, settings_with_overrides(&[("calc", OperatorOverride::LeftOut)])).unwrap()),
        ["calc.add"]
    );
}

/// I70: each function that cannot be an operator is reported with a reason. An override can exclude such a function.
#[test]
fn resource_functions_are_refused_with_a_reason() {
    let wit = "package example:db;
        interface rows { resource cursor { constructor(); next: func() -> u8; } open: func() -> cursor;
                         peek: func(c: borrow<cursor>, n: list<option<cursor>>) -> u8; }
        world w { export rows; export plain: func(); }";
    let error = load(wit, settings()).unwrap_err();
    assert_eq!(error.problems.len(), 4, "constructor, method, and two functions: {error}");
    let text = error.to_string();
    for part in ["its result: a resource", "parameter c: a resource", "parameter n, item, option value: a resource"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("\"rows.[constructor]cursor\" = false"), "{text}");
    assert_eq!(
        names(&load(wit, settings_with_overrides(&[("rows", OperatorOverride::LeftOut)])).unwrap()),
        ["calc.plain"]
    );
    let all = settings_with_overrides(&[("rows", OperatorOverride::LeftOut), ("plain", OperatorOverride::LeftOut)]);
    assert!(refusal_text(wit, all, error_docs::UNTYPED_OVERRIDE).contains("excludes every function"));
}

/// I10: every import without an implementation is reported.
#[test]
fn all_foreign_imports_are_reported() {
    let wit = "package example:calc;
        interface one { a: func(); } interface two { b: func(); }
        world w { import one; import two; import three: func(); export x: func(); }";
    let text = refusal_text(wit, settings(), error_docs::PLUGIN_IMPORTS);
    assert!(["example:calc/one", "example:calc/two", "three"].iter().all(|import| text.contains(import)), "{text}");
    refusal_text(WITH_CLOCK, settings(), error_docs::PLUGIN_IMPORTS);
}

/// I71: overrides replace the properties derived from the component. An override that contradicts the component is
/// refused.
#[test]
fn operator_overrides_are_checked_against_the_component() {
    let full = OperatorSettings {
        name: Some("Time.Later".into()),
        description: Some("Later.".into()),
        effects: Some(vec![EffectKind::InternalWrite]),
        determinism: Some(Determinism::External),
        outcome_type: Some("Draft.Time".into()),
        outcome_status: Some("draft".into()),
    };
    let plugin = load(WITH_WASI, settings_with_overrides(&[("calc.later", operator_override(full))])).unwrap();
    let spec = plugin.operator("Time.Later").unwrap();
    assert_eq!((spec.description.as_str(), spec.outcome_type.as_deref()), ("Later.", Some("Draft.Time")));
    assert_eq!(plugin.class("Time.Later"), RecoveryClass::Opaque);

    let pure = operator_override(OperatorSettings { determinism: Some(Determinism::Pure), ..Default::default() });
    let text =
        refusal_text(WITH_WASI, settings_with_overrides(&[("later", pure.clone())]), error_docs::UNTYPED_OVERRIDE);
    assert!(text.contains("wasi:clocks/monotonic-clock"), "{text}");
    let text = refusal_text(
        CALC,
        settings_with_overrides(&[("calc.negat", pure.clone()), ("math", pure)]),
        error_docs::UNTYPED_OVERRIDE,
    );
    assert!(text.contains("calc.negate") && text.contains("is an interface"), "both problems are listed: {text}");
    let both = OperatorSettings {
        effects: Some(vec![EffectKind::ExternalSend]),
        determinism: Some(Determinism::Pure),
        ..Default::default()
    };
    refusal_text(CALC, settings_with_overrides(&[("negate", operator_override(both))]), error_docs::PLUGIN_DESCRIBE);
}

/// I72: a job pins the component together with its manifest. The pinned bytes load again regardless of later
/// settings.
#[test]
fn digest_covers_component_and_manifest() {
    let bytes = component(CALC);
    let silent = engine().load(&bytes, settings()).unwrap();
    let again = engine().load(&bytes, settings()).unwrap();
    assert_eq!(silent.digest, again.digest);
    let renamed = operator_override(OperatorSettings { name: Some("Add".into()), ..Default::default() });
    let stated = engine().load(&bytes, settings_with_overrides(&[("math.add-up", renamed)])).unwrap();
    assert_ne!(silent.digest, stated.digest);
    for plugin in [silent, stated] {
        let kept = plugin.with_seal(bytes.clone());
        let pinned = PluginSettings { operators: ManifestSource::Sealed, ..settings() };
        let loaded = engine().load(&kept, pinned).unwrap();
        assert_eq!((loaded.digest, &loaded.manifest), (plugin.digest, &plugin.manifest));
        // A sealed manifest in the source file of a plugin has no effect. Only the settings in `latch.toml` determine
        // the manifest.
        let as_source = engine().load(&kept, settings()).unwrap();
        assert_eq!(names(&as_source), ["calc.negate", "math.add-up"]);
    }
    let unsealed = PluginSettings { operators: ManifestSource::Sealed, ..settings() };
    assert!(engine().load(&bytes, unsealed).is_err());
}

/// I11: types that are too large or too deep are refused before they are converted.
#[test]
fn huge_types_are_refused() {
    let mut doubling = "record r0 { a: u8, b: u8 }".to_owned();
    for n in 1..16 {
        doubling.push_str(&format!(" record r{n} {{ a: r{}, b: r{} }}", n - 1, n - 1));
    }
    let wit = |types: &str, ty: &str| {
        format!("package a:b; interface i {{ {types} f: func(x: {ty}) -> u8; }} world w {{ export i; }}")
    };
    let nested = (0..40).fold("u16".to_owned(), |inner, _| format!("list<{inner}>"));
    let names: Vec<_> = (0..9_000).map(|n| format!("n{n}")).collect();
    for (wit, why) in [
        (wit(&doubling, "r15"), "too large"),
        (wit("", &nested), "deep"),
        (wit(&format!("enum e {{ {} }}", names.join(", ")), "e"), "too large"),
    ] {
        let text = refusal_text(&wit, settings(), error_docs::UNTYPED_UNSUITABLE);
        assert!(text.contains(why), "{text}");
    }
}

/// A component that refers to a Latchwork interface is not an untyped component. A WASI program is not an untyped
/// component either.
#[test]
fn typed_components_and_programs_are_not_untyped() {
    for wit in [
        "package latchwork:plugin@0.1.0; interface log { a: func(); } world w { import log; export x: func(); }",
        "package wasi:cli@0.2.6; interface run { run: func() -> result; } world w { export run; }",
    ] {
        refusal_text(wit, settings(), error_docs::PLUGIN_MALFORMED);
    }
}
