//! Loading of the configured plugins: each plugin is found, checked and stored, and every problem is listed.

use std::path::Path;
use std::sync::{Arc, Mutex};

use latchwork::builder::Stores;
use latchwork::config::{Config, LoadOptions, PluginConfig};
use latchwork::host::Host;
use latchwork::registry::Registry;
use latchwork_core::memory::{ManualClock, Memory};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{OnIndeterminate, PluginKind, RecoveryClass, WasiMode};
use latchwork_core::storage::Owner;
use latchwork_engine::capability::grants::{Grants, HttpGrant, Origin, TcpGrant};
use latchwork_engine::capability::settings::LimitsConfig;
use latchwork_engine::{Engine, EngineOptions, PluginProblem};
use latchwork_tooling::inspect;

use crate::support::plugins::built_guests::guest;
use crate::support::plugins::engine::empty_maps;

fn plugin_config(name: &str, source: &Path) -> PluginConfig {
    PluginConfig {
        name: name.to_owned(),
        source: source.to_owned(),
        digest: None,
        wasi: WasiMode::None,
        grants: Grants::default(),
        limits: LimitsConfig::default(),
        retry: None,
        on_indeterminate: None,
        confirmation: None,
        verifier: None,
        operators: Default::default(),
        config: Default::default(),
        prices: None,
    }
}

fn tool_config(name: &str) -> PluginConfig {
    let grants = Grants {
        http: vec![HttpGrant::read_only(Origin { scheme: "https".into(), host: "api.example.com".into(), port: 443 })],
        tcp: vec![TcpGrant { host: "smtp.example.com".into(), port: 587 }],
        ..Grants::default()
    };
    PluginConfig { grants, ..plugin_config(name, &guest("hostile-tool")) }
}

fn host_config(dir: &Path, plugins: Vec<PluginConfig>) -> Config {
    with_plugins(Config::with_defaults(dir), plugins)
}

fn with_plugins(config: Config, plugins: Vec<PluginConfig>) -> Config {
    let compiled = config.root().join("compiled");
    config.with_plugins(plugins).with_cache_dir(compiled)
}

fn load_registry(config: &Config) -> Result<Registry, Vec<latchwork_engine::LoadError>> {
    let engine = Engine::new(EngineOptions {
        cache_dir: config.cache_dir().map(Path::to_owned),
        explain: inspect::EXPLAIN,
        ..EngineOptions::default()
    })
    .unwrap();
    Registry::load(engine, config, empty_maps())
}

#[test]
fn pinned_operator_versions_stay_loadable() {
    let dir = tempfile::tempdir().unwrap();
    let step = guest("hostile-step");
    std::fs::write(dir.path().join("latch.toml"), "on_indeterminate = \"fail\"").unwrap();
    let options = LoadOptions { cwd: dir.path(), config: None, db: None, plan_folder: None, env: &|_| None };
    let parked = PluginConfig { on_indeterminate: Some(OnIndeterminate::Park), ..tool_config("tool") };
    let all = with_plugins(Config::load(&options).unwrap(), vec![plugin_config("step", &step), parked]);
    let registry = load_registry(&all).unwrap();
    let pinned = registry.pinned_operators();
    assert_eq!(pinned.len(), 8);
    let digest = Hash::of(&[&std::fs::read(&step).unwrap()]);
    let first = &pinned["Hostile.Do"];
    assert_eq!((first.digest, first.kind, first.on_indeterminate), (digest, PluginKind::Step, OnIndeterminate::Fail));
    let second = &pinned["World.Change"];
    assert_eq!((second.class, second.on_indeterminate), (RecoveryClass::Queryable, OnIndeterminate::Park));
    assert!(second.reconcile);
    assert_eq!(second.limits.timeout_ms, 20_000, "the requested timeout, which is below the default");
    assert_eq!(registry.by_operator("World.Look").unwrap().name, "tool");
    assert!(registry.by_operator("None.Such").is_none());

    // Another version is configured under the same name. The pinned version is still stored.
    let other = load_registry(&host_config(dir.path(), vec![tool_config("step")])).unwrap();
    let pinned = other.component(digest, WasiMode::None);
    // The pinned version is a step. The plugin that now has the same name is a tool with grants. A step must not have
    // grants, so the pinned version cannot be loaded with them.
    assert!(pinned.unwrap_err().to_string().contains("remove `grants`"));
    let again = load_registry(&host_config(dir.path(), vec![plugin_config("step", &step)])).unwrap();
    assert_eq!(again.component(digest, WasiMode::None).unwrap().name, "step");

    // The plugin was removed from the configuration. The error says to configure it again.
    let none = load_registry(&host_config(dir.path(), vec![])).unwrap();
    assert!(none.component(digest, WasiMode::None).unwrap_err().to_string().contains("configure it again"));
    assert!(none.component(Hash::default(), WasiMode::None).unwrap_err().to_string().contains("not kept"));
}

#[test]
fn every_problem_of_every_plugin_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let step = guest("hostile-step");
    let wrong = PluginConfig { digest: Some(Hash::default()), ..plugin_config("wrong", &step) };
    let errors = load_registry(&host_config(
        dir.path(),
        vec![
            plugin_config("one", &step),
            wrong,
            plugin_config("missing", &dir.path().join("none.wasm")),
            plugin_config("two", &step),
            plugin_config("wasi", &guest("wasi-step")),
        ],
    ))
    .err()
    .expect("four of five are refused");
    let named: Vec<_> = errors.iter().map(|error| (error.plugin(), error.page())).collect();
    assert_eq!(named, [("wrong", "L0021"), ("missing", "L0020"), ("two", "L0024"), ("wasi", "L0022")]);
    let digest = errors[0].to_string();
    assert!(digest.contains(&"0".repeat(64)), "{digest}");
    assert!(digest.contains(&Hash::of(&[&std::fs::read(&step).unwrap()]).to_hex()), "{digest}");
    assert!(errors[2].to_string().contains("\"one\""), "{}", errors[2]);
    assert!(errors[3].problems.iter().all(|problem| matches!(problem, PluginProblem::Import { .. })));
}

#[test]
fn damaged_compiled_code_is_compiled_again() {
    let dir = tempfile::tempdir().unwrap();
    let config = host_config(dir.path(), vec![plugin_config("step", &guest("hostile-step"))]);
    load_registry(&config).unwrap();
    let entries = std::fs::read_dir(config.cache_dir().as_ref().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let compiled = entries.filter(|path| path.extension().is_some_and(|kind| kind == "aot"));
    let good: Vec<_> = compiled.map(|path| (std::fs::read(&path).unwrap(), path)).collect();
    assert_eq!(good.len(), 1);
    let (bytes, path) = &good[0];
    for damage in [&bytes[..bytes.len() / 2], b"", &[&bytes[..bytes.len() - 1], b"\0\0"].concat()] {
        std::fs::write(path, damage).unwrap();
        load_registry(&config).unwrap();
        assert_eq!(std::fs::read(path).unwrap().len(), bytes.len());
    }
}

/// I134: a listener for compilations gets the compilations of its own host, and no compilations of other hosts in the
/// same process.
#[tokio::test]
async fn hosts_of_one_process_announce_only_their_own_compilations() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let step = guest("hostile-step");
    let start = |dir: &Path, names: &[&str]| {
        let announced: Arc<Mutex<Vec<(String, usize)>>> = Arc::default();
        let plugins = names.iter().map(|name| plugin_config(name, &step)).collect();
        let memory = Arc::new(Memory::new(Arc::new(ManualClock::default()), 0));
        let seen = announced.clone();
        let builder = Host::builder(Stores::new(memory, Owner::unlocked("test"))).config(host_config(dir, plugins));
        let builder = builder.on_compile(move |compilation| {
            seen.lock().unwrap().push((compilation.plugin.to_owned(), compilation.remaining));
        });
        (builder.start().unwrap(), announced)
    };
    let ((_one, first), (_other, second)) = (start(one.path(), &["first"]), start(other.path(), &["second", "third"]));
    assert_eq!(*first.lock().unwrap(), [("first".to_owned(), 0)]);
    // Both plugins are the same component, which is compiled once.
    assert_eq!(*second.lock().unwrap(), [("second".to_owned(), 1)]);
}
