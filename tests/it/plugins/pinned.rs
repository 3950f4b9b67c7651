//! A job continues with the component that it started with, even if another component is configured later.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::program;
use crate::support::test_env::{TestEnv, step};

/// Returns an environment with its own copy of a step component, and the path of the copy. `change_version` replaces
/// one word in the copy.
fn env_with_own_component() -> (TestEnv, PathBuf) {
    let place = TestEnv::witness("atomic").fresh_copy();
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).expect("readable");
    let source = config.lines().filter_map(|line| line.strip_prefix("source = ")).next_back().expect("three plugins");
    let component = place.dir.join("step.wasm");
    std::fs::copy(source.trim_matches('"'), &component).expect("copied");
    let config = config.replace(source, "\"step.wasm\"");
    std::fs::write(place.dir.join("latch.toml"), config).expect("writable");
    let calls = json!([
        { "operator": "Effect.Read", "args": { "note": 1 } },
        { "operator": "Effect.Opaque", "args": { "note": 2 } },
    ]);
    let step = json!({
        "step_id": "m", "kind": "operator", "name": "Driver.Mark", "payload": { "calls": calls },
        "effects": ["read_only", "internal_write", "external_write", "external_send"], "policy_tags": [], "cache_policy": "never",
        "idempotency_template": "m",
    });
    let plan = json!({ "plan_id": "marked", "schema_version": "1.0", "steps": [step] });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).expect("writable");
    (place, component)
}

fn change_version(component: &PathBuf) {
    let mut bytes = std::fs::read(component).expect("readable");
    let (one, two) = (b"component called one", b"component called two");
    let at = bytes.windows(one.len()).position(|window| window == one).expect("the mark is in the component");
    bytes[at..at + two.len()].copy_from_slice(two);
    std::fs::write(component, bytes).expect("writable");
}

fn run_until_gated(place: &TestEnv) -> Value {
    let ran = place.latch(&["run", "plan.json", "--new", "--json", "--actor", "ada"]);
    assert_eq!(ran.code, 3, "the job waits for its gate: {} {}", ran.stdout, ran.stderr);
    ran.json()
}

fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

fn approve_and_resume(place: &TestEnv, job: &str) -> program::CommandOutput {
    assert_eq!(place.latch(&["job", "approve", job, "m/1"]).code, 0);
    place.latch(&["resume", job, "--json"])
}

/// Checks that the job replays, and returns the digest of the component that it pinned.
fn pinned_digest(place: &TestEnv, job: &str) -> String {
    let replay = place.latch(&["job", "replay", job, "--every-prefix", "--json"]);
    assert_eq!((replay.code, &replay.json()["divergence"]), (0, &Value::Null), "{} {}", replay.stdout, replay.stderr);
    let events = place.latch(&["job", "events", job, "--json"]).json()["events"].clone();
    let header = events[0].clone();
    header["operators"]["Driver.Mark"]["digest"].as_str().expect("the component is pinned").to_owned()
}

/// I43: if a component is replaced while a job is open, this job keeps the old component. New jobs get the new
/// component.
#[test]
fn open_job_continues_with_its_original_component() {
    let (mut place, component) = env_with_own_component();
    place.skip_replay_of_damaged_jobs();
    let old = job_id(&run_until_gated(&place));
    let first = pinned_digest(&place, &old);
    change_version(&component);
    let new = job_id(&run_until_gated(&place));
    assert_ne!(first, pinned_digest(&place, &new));

    // Each job is replayed with the component that it pinned.
    for job in [&old, &new] {
        let done = approve_and_resume(&place, job);
        assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
        pinned_digest(&place, job);
    }
    let kept = place.dir.join(".latch/components").join(format!("{first}.wasm"));
    let good = std::fs::read(&kept).expect("the component is stored under its digest");

    // A damaged stored component is detected by its digest. The job is not replayed, and no other component
    // is run in its place.
    let waits = job_id(&run_until_gated(&place));
    let second = pinned_digest(&place, &waits);
    change_version_back(&component);
    let of_second = place.dir.join(".latch/components").join(format!("{second}.wasm"));
    std::fs::write(&of_second, &good).expect("writable");
    let refused = place.latch(&["job", "replay", &waits, "--json"]);
    assert_ne!(refused.code, 0, "{}", refused.stdout);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains(&second[..12]), "{}", refused.stdout);
}

fn change_version_back(component: &PathBuf) {
    let mut bytes = std::fs::read(component).expect("readable");
    let (one, two) = (b"component called one", b"component called two");
    let at = bytes.windows(two.len()).position(|window| window == two).expect("the mark is in the component");
    bytes[at..at + one.len()].copy_from_slice(one);
    std::fs::write(component, bytes).expect("writable");
}

/// I43, I177: pruning keeps every component that a job may still need.
#[test]
fn prune_keeps_components_pinned_by_open_jobs() {
    let (mut place, component) = env_with_own_component();
    place.skip_replay_of_damaged_jobs();
    let job = job_id(&run_until_gated(&place));
    let pinned = pinned_digest(&place, &job);
    change_version(&component);
    let age = || {
        for entry in std::fs::read_dir(place.dir.join(".latch/components")).expect("there") {
            let file = std::fs::File::options().write(true).open(entry.expect("readable").path()).expect("opened");
            let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
            file.set_modified(old).expect("set");
        }
    };
    let pruned = || {
        age();
        let ran = place.latch(&["plugin", "prune", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.json()["pruned"].clone()
    };
    assert_eq!(pruned(), json!([]), "the old version is pinned, the others are configured");
    let doctor = place.latch(&["doctor", "--json"]).json();
    let components = doctor["checks"].as_array().expect("a list").iter().find(|check| check["check"] == "components");
    assert!(
        components.is_some_and(|check| check["found"].as_str().is_some_and(|found| found.contains("4 kept"))),
        "{doctor:#}"
    );
    assert_eq!(approve_and_resume(&place, &job).code, 0, "the old version was available to the job");
    let gone = pruned();
    assert_eq!((gone[0]["digest"].clone(), gone[1].clone()), (json!(format!("sha256:{pinned}")), Value::Null));
    let again = place.latch(&["run", "plan.json", "--new", "--json"]);
    assert_eq!(again.code, 3, "configured components are kept: {}", again.stderr);
}

/// I43: a call whose plugin is missing is not recorded as started. When the plugin is available again, the
/// call is executed without a decision by a person.
#[test]
fn call_with_missing_plugin_is_not_started() {
    let place =
        TestEnv::witness("atomic").fresh_copy().with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("readable");
    let source = config.lines().find_map(|line| line.strip_prefix("source = ")).expect("three plugins");
    let component = place.dir.join("tool.wasm");
    std::fs::copy(source.trim_matches('"'), &component).expect("copied");
    std::fs::write(&file, config.replace(source, "\"tool.wasm\"")).expect("writable");
    let job = job_id(&run_until_gated(&place));
    let header = place.latch(&["job", "events", &job, "--json"]).json()["events"][0].clone();
    let digest = header["operators"]["Effect.Opaque"]["digest"].as_str().expect("the component is pinned");
    assert_eq!(place.latch(&["job", "approve", &job, "o"]).code, 0);

    // Another version is configured, and the pinned version is not stored.
    let mut bytes = std::fs::read(&component).expect("readable");
    let word = b"cannot be reconciled";
    let at =
        bytes.windows(word.len()).position(|window| window == word).expect("the component contains its description");
    bytes[at] = b'N';
    std::fs::write(&component, bytes).expect("writable");
    let kept = place.dir.join(".latch/components").join(format!("{digest}.wasm"));
    let away = place.dir.join("away.wasm");
    std::fs::rename(&kept, &away).expect("the component is stored");
    let missing = place.latch(&["resume", &job, "--json"]);
    assert_eq!(missing.code, 2, "{} {}", missing.stdout, missing.stderr);
    assert!(missing.stdout.contains("needs the plugin version for Effect.Opaque"), "{}", missing.stdout);
    assert!(place.effect_counts().is_empty());

    std::fs::rename(&away, &kept).expect("writable");
    let done = place.latch(&["resume", &job, "--json"]);
    assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{} {}", done.stdout, done.stderr);
    assert_eq!(place.effect_counts().get("o"), Some(&1));
}
