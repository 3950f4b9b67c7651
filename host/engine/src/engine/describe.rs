//! Calls a component's `describe` and checks the returned manifest.

use std::collections::{BTreeMap, BTreeSet};

use wasmtime::component::{Component, Linker};
use wasmtime::{Store, UpdateDeadline};

use latchwork_core::model::bounds;
use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{Determinism, Limits, Manifest, OperatorSpec, PluginKind, WasiMode};

use crate::capability::settings::PluginSettings;
use crate::engine::describe_host::DescribeHost;
use crate::engine::schema::{PatternSizes, Schemas, check_component_patterns};
use crate::engine::shape::Shape;
use crate::engine::step_state::StepInstanceState;
use crate::engine::{start_phase, stated_effects, virtual_wasi};
use crate::guest::bindings::export;
use crate::guest::limits::Guarded;
use crate::guest::{convert, fault, limits};
use crate::interfaces::PluginProblem;
use crate::interfaces::package::PACKAGE;

/// Limits of a `describe` call. They are large, because an interpreter needs much memory, fuel and time for its start.
const DESCRIBE_LIMITS: Limits = Limits {
    memory_bytes: bounds::DESCRIBE_MEMORY_BYTES,
    table_elements: bounds::TABLE_ELEMENTS,
    fuel: bounds::DESCRIBE_FUEL,
    timeout_ms: bounds::DESCRIBE_TIMEOUT_MS,
    output_bytes: bounds::DESCRIBE_BYTES,
    // `describe` itself makes no host calls. Only a language runtime makes a few WASI calls at its start.
    host_calls: bounds::DESCRIBE_HOST_CALLS,
};

/// The manifest, and the compiled schemas of each operator.
pub(crate) type Described = (Manifest, BTreeMap<Operator, Schemas>);

/// Instantiates the component, checks the types of all exports, and calls `describe`. A call of an import traps, with
/// two exceptions:
///
/// * A step with virtual WASI can call virtual WASI at any time. [`DescribeHost`] provides the clock and the random
///   stream. The clock starts at 1970 and the stream is fixed, so the answer of `describe` is reproducible.
/// * Any other plugin can use the clock, the random stream and the log of [`DescribeHost`] while its language runtime
///   starts. After the start, `describe` is called, and every call of an import traps.
pub(crate) fn describe(
    engine: &wasmtime::Engine,
    component: &Component,
    shape: Shape,
    settings: &PluginSettings,
) -> Result<Described, Vec<PluginProblem>> {
    let answer = call_describe(engine, component, shape, settings)?;
    let mut manifest = convert::manifest(answer);
    let schemas = check_manifest(&manifest, shape.kind)?;
    stated_effects::apply(&mut manifest, settings)?;
    Ok((manifest, schemas))
}

fn call_describe(
    engine: &wasmtime::Engine,
    component: &Component,
    shape: Shape,
    settings: &PluginSettings,
) -> Result<export::plugin::Manifest, Vec<PluginProblem>> {
    let failed = |error: wasmtime::Error| {
        let failure = fault::failure(&error);
        let root = error.root_cause().to_string();
        let text = match root.strip_prefix("unknown import: `") {
            Some(rest) => {
                let import = rest.split('`').next().unwrap_or(rest);
                format!("it calls the import {import}; describe must not call any import")
            }
            None => failure.to_string(),
        };
        vec![PluginProblem::Describe(text)]
    };
    let mut linker = Linker::<StepInstanceState>::new(engine);
    let mut starting = None;
    match settings.wasi {
        WasiMode::Virtual => virtual_wasi::link(&mut linker, component)
            .and_then(|()| virtual_wasi::forbid(&mut linker, component, PACKAGE))
            .map_err(failed)?,
        WasiMode::None => {
            starting = Some(start_phase::link(&mut linker, component).map_err(failed)?);
            linker.define_unknown_imports_as_traps(component).map_err(failed)?;
        }
    }
    let pre = linker.instantiate_pre(component).map_err(failed)?;
    let mut store =
        Store::new(engine, StepInstanceState::new(Box::new(DescribeHost::new(&settings.name)), &DESCRIBE_LIMITS));
    limits::apply_limits(&mut store, &DESCRIBE_LIMITS).map_err(failed)?;
    // The calls of this store are synchronous and cannot yield. At each epoch tick, the callback checks the time limit
    // and continues.
    store.epoch_deadline_callback(|mut context| {
        context.data_mut().guard().check_time()?;
        Ok(UpdateDeadline::Continue(1))
    });
    let instance = pre.instantiate(&mut store).map_err(failed)?;
    if let Some(starting) = starting {
        starting.end();
    }

    let mut problems = Vec::new();
    macro_rules! typed {
        ($wanted:expr, $interface:ident) => {
            if $wanted {
                let loaded =
                    export::$interface::GuestIndices::new(&pre).and_then(|indices| indices.load(&mut store, &instance));
                if let Err(error) = loaded {
                    let export = crate::interfaces::package::interface_name(stringify!($interface));
                    problems.push(PluginProblem::Export { export, wrong: format!("has the wrong type: {error:#}") });
                }
            }
        };
    }
    typed!(true, plugin);
    typed!(shape.kind == PluginKind::Step, run);
    typed!(shape.kind == PluginKind::Tool, invoke);
    typed!(shape.reconcile, reconcile);
    typed!(shape.verify, verify);
    typed!(shape.compensate, compensate);
    if !problems.is_empty() {
        return Err(problems);
    }

    store.set_fuel(DESCRIBE_LIMITS.fuel).map_err(failed)?;
    let interface = instance.get_export_index(&mut store, None, &crate::interfaces::package::interface_name("plugin"));
    let function = instance
        .get_export_index(&mut store, interface.as_ref(), "describe")
        .expect("the interface was loaded a moment ago");
    let describe = instance.get_typed_func::<(), (export::plugin::Manifest,)>(&mut store, function).map_err(failed)?;
    let answer = describe.call(&mut store, ());
    store.data_mut().flush_output();
    let (manifest,) = answer.map_err(failed)?;
    Ok(manifest)
}

/// Checks a manifest against every rule and lists all violations. Returns the compiled schemas if there are no
/// violations.
pub(crate) fn check_manifest(
    manifest: &Manifest,
    kind: PluginKind,
) -> Result<BTreeMap<Operator, Schemas>, Vec<PluginProblem>> {
    check_operators(manifest, kind, bounds::SCHEMA_PATTERN_TEXT_BYTES)
}

/// Checks the manifest of a tool that the host derived from the types of a component. The regular expressions of its
/// schemas are those of the host, so the length of their texts has no limit.
pub(crate) fn check_derived_manifest(manifest: &Manifest) -> Result<BTreeMap<Operator, Schemas>, Vec<PluginProblem>> {
    check_operators(manifest, PluginKind::Tool, usize::MAX)
}

fn check_operators(
    manifest: &Manifest,
    kind: PluginKind,
    pattern_text_max: usize,
) -> Result<BTreeMap<Operator, Schemas>, Vec<PluginProblem>> {
    let mut problems = Vec::new();
    let mut wrong = |at: String, wrong: String| problems.push(PluginProblem::Manifest { at, wrong });
    if !is_semver(&manifest.version) {
        wrong("version".into(), format!("{:?} is not a semantic version such as 1.2.0", manifest.version));
    }
    if manifest.operators.is_empty() {
        wrong("operators".into(), "the list is empty; a plugin serves at least one operator".into());
    }
    // Each operator has two schemas to compile, so the operators of a longer list are not checked.
    if manifest.operators.len() > bounds::OPERATORS {
        let (count, most) = (manifest.operators.len(), bounds::OPERATORS);
        wrong("operators".into(), format!("there are {count} operators where {most} are allowed"));
        return Err(problems);
    }
    let mut names = BTreeSet::new();
    let (mut schemas, mut pattern_sizes) = (BTreeMap::new(), PatternSizes::default());
    for (index, operator) in manifest.operators.iter().enumerate() {
        let name = operator.name.as_str();
        let at = |part: &str| format!("operators[{index}] {name:?}, {part}");
        if !Operator::is_valid(name) {
            wrong(at("name"), "is invalid; use 1 to 128 visible ASCII characters other than / : ~ and quotes".into());
        }
        if !names.insert(name) {
            wrong(at("name"), "is used twice".into());
        }
        for (part, text) in broken_rules(operator, kind) {
            wrong(at(part), text.to_owned());
        }
        match Schemas::compile(&operator.input_schema, &operator.output_schema) {
            Ok(compiled) => {
                pattern_sizes.add(compiled.pattern_sizes());
                if let Err(text) = check_component_patterns(pattern_sizes, pattern_text_max) {
                    wrong("operators".into(), text);
                    break;
                }
                schemas.insert(operator.name.clone(), compiled);
            }
            Err(bad) => bad.into_iter().for_each(|(part, text)| wrong(at(part), text)),
        }
    }
    if problems.is_empty() { Ok(schemas) } else { Err(problems) }
}

fn broken_rules(operator: &OperatorSpec, kind: PluginKind) -> Vec<(&'static str, &'static str)> {
    let mut broken = Vec::new();
    if operator.effects.is_empty() {
        broken.push(("effects", "the list is empty; declare at least read-only"));
    }
    if operator.is_world_changing() && operator.determinism == Determinism::Pure && kind == PluginKind::Tool {
        broken.push(("determinism", "a tool that changes the world is not pure; it is external"));
    }
    if operator.outcome_type.as_ref().is_some_and(String::is_empty) {
        broken.push(("outcome-type", "is empty; omit it if the operator produces no outcome"));
    }
    match operator.outcome_status.as_deref() {
        None | Some("draft" | "final") => {}
        Some(_) => broken.push(("outcome-status", "must be draft or final")),
    }
    broken
}

/// Returns true for `MAJOR.MINOR.PATCH`, optionally followed by `-pre` and `+build`.
fn is_semver(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let rest = &text[core.len()..];
    let parts: Vec<_> = core.split('.').collect();
    let number = |part: &&str| {
        !part.is_empty()
            && part.len() <= 9
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    parts.len() == 3
        && parts.iter().all(number)
        && rest.len() != 1
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+'))
}

#[cfg(test)]
mod tests {
    use latchwork_core::model::error::Code;
    use wasmtime::ResourceLimiter as _;

    use super::*;
    use crate::guest::fault::HostFault;
    use crate::guest::limits::Guard;

    /// I225: bounds `describe_memory_bytes`, `describe_timeout_ms` and `describe_host_calls`.
    #[test]
    fn memory_time_and_host_calls_of_a_description_are_bounded() {
        let mut guard = Guard::new(&DESCRIBE_LIMITS);
        assert!(guard.memory_growing(0, bounds::DESCRIBE_MEMORY_BYTES as usize, None).unwrap());
        let beyond = guard.memory_growing(0, 1, None).unwrap_err();
        assert_eq!(fault::failure(&beyond).code, Code::MemoryLimit);
        (0..bounds::DESCRIBE_HOST_CALLS).for_each(|_| guard.count_host_call().unwrap());
        assert_eq!(guard.count_host_call(), Err(HostFault::HostCalls(bounds::DESCRIBE_HOST_CALLS)));
        let most_us = u64::from(bounds::DESCRIBE_TIMEOUT_MS) * 1_000;
        guard.check_run_time(most_us).unwrap();
        let beyond = guard.check_run_time(most_us + 1);
        assert_eq!(beyond, Err(HostFault::WallClock(bounds::DESCRIBE_TIMEOUT_MS.into())));
    }

    #[test]
    fn semantic_versions_are_recognized() {
        for good in ["0.1.0", "1.20.300", "1.0.0-rc.1", "1.0.0+build.5"] {
            assert!(is_semver(good), "{good}");
        }
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2.x", "1.2.3-", "1.2.3 "] {
            assert!(!is_semver(bad), "{bad}");
        }
    }

    #[test]
    fn every_broken_rule_is_listed() {
        let operator = |name: &str| OperatorSpec {
            name: Operator::new(name),
            description: String::new(),
            input_schema: "{".into(),
            output_schema: "true".into(),
            effects: vec![],
            determinism: Determinism::Pure,
            outcome_type: None,
            outcome_status: Some("maybe".into()),
            resolution: Default::default(),
            limits: Default::default(),
        };
        let manifest = Manifest { version: "one".into(), operators: vec![operator("a b"), operator("a b")] };
        let problems = check_manifest(&manifest, PluginKind::Tool).unwrap_err();
        // There is one problem with the version, and one with the duplicate name. Each of the two operators has four
        // problems: name, effects, outcome-status and input-schema.
        assert_eq!(problems.len(), 10, "{problems:#?}");
    }
}
