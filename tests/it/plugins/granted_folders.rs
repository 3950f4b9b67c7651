//! Grants of folders that hold files of the host.

use serde_json::{Value, json};

use crate::support::test_env::{TestEnv, step};

/// The grant of the witness tools.
const GRANT: &str = "host = \"effects\"";

/// Returns an environment whose witness tools have a grant of this folder. Its plan has one call, which a witness tool
/// serves.
fn env_with_folder(folder: &str) -> TestEnv {
    let place = TestEnv::witness("atomic").with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    place.with_approved(vec!["o"]).edit_config(|config| config.replace(GRANT, &format!("host = {folder:?}")))
}

/// I196: a writable grant of the project would give a plugin the secrets, its own grants and the approvals.
#[test]
fn plugin_with_the_folder_of_the_project_is_refused() {
    for (folder, says) in [
        (".", "contains the configuration file"),
        (".latch/secrets", "lies inside the state directory"),
        ("/", "is the whole file system"),
        ("/proc/self", "lies in /proc"),
    ] {
        let place = env_with_folder(folder);
        let written = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
        for args in [&place.run_args()[..], &["plugin", "list", "--json"]] {
            let ran = place.latch(args);
            let error = ran.json()["error"].clone();
            assert_eq!(
                (ran.code, &error["code"]),
                (2, &json!("L0027")),
                "{folder} {args:?}: {} {}",
                ran.stdout,
                ran.stderr
            );
            let problems = error["problems"].as_array().expect("a list");
            let is_named = |problem: &Value| problem["message"].as_str().is_some_and(|message| message.contains(says));
            assert!(problems.iter().any(is_named), "{folder}: {error:#}");
        }
        let doctor = place.latch(&["doctor", "--json"]);
        assert!(doctor.stdout.contains("L0027") && doctor.stdout.contains(says), "{folder}: {}", doctor.stdout);
        assert_eq!(std::fs::read_to_string(place.dir.join("latch.toml")).unwrap(), written);
    }
}

/// I196: `rename` and `symlink` in a writable folder could replace the folder inside it by a link to any other folder.
#[test]
fn plugin_with_a_folder_inside_a_writable_folder_is_refused() {
    let place = TestEnv::witness("atomic").edit_config(|config| {
        let (first, second) = config.split_once(GRANT).expect("the grant of the first tool");
        format!("{first}{GRANT}{}", second.replacen(GRANT, "host = \"effects/inner\"", 1))
    });
    let ran = place.latch(&["plugin", "list", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0027")), "{} {}", ran.stdout, ran.stderr);
    let problems = ran.json()["error"]["problems"].clone();
    let refused: Vec<&str> =
        problems.as_array().expect("a list").iter().filter_map(|problem| problem["plugin"].as_str()).collect();
    assert_eq!(refused, ["witness", "witness-queryable"], "{problems:#}");
}

/// I196: an open job has pinned its component. The host does not run the component with a folder that cannot be
/// granted. The job continues after the grant is corrected.
#[test]
fn open_job_does_not_get_the_folder_of_the_project() {
    let place = TestEnv::witness("atomic")
        .with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))])
        .with_approved(vec![]);
    let waiting = place.latch(&place.run_args());
    assert_eq!(waiting.code, 3, "{} {}", waiting.stdout, waiting.stderr);
    let id = waiting.json()["job_id"].as_str().expect("an id").to_owned();
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
    let place = place.edit_config(|config| config.replace(GRANT, "host = \".\""));
    let approved = place.latch(&["job", "approve", &id, "o", "--actor", "grace"]);
    let resumed = place.latch(&["resume", "--json"]);
    let printed = format!("{} {} {} {}", approved.stdout, approved.stderr, resumed.stdout, resumed.stderr);
    assert!(printed.contains("contains the configuration file"), "{printed}");
    assert_ne!(place.only_job()["state"], "COMPLETED", "{printed}");
    assert!(place.effect_counts().is_empty(), "{printed}");
    let place = place.edit_config(|_| config);
    place.latch(&["job", "retry", &id]);
    place.latch(&["job", "approve", &id, "o", "--actor", "grace"]);
    place.latch(&["resume"]);
    assert_eq!(place.only_job()["state"], "COMPLETED", "{printed} {:#}", place.only_job());
}

/// Replaces the source of the first tool.
fn with_source(config: &str, source: &str) -> String {
    let line = config.lines().find(|line| line.starts_with("source = ")).expect("the source of the first tool");
    config.replacen(line, &format!("source = {source:?}"), 1)
}

/// Requires another digest than the first tool has.
fn with_other_digest(config: &str) -> String {
    let line = config.lines().find(|line| line.starts_with("source = ")).expect("the source of the first tool");
    config.replacen(line, &format!("{line}\ndigest = \"sha256:{}\"", "0".repeat(64)), 1)
}

/// I196: the host checks the folders of a plugin even if its configured component is missing or has another digest. An
/// open job would otherwise run its pinned component with a folder that cannot be granted.
#[test]
fn open_job_does_not_get_the_folder_of_the_project_from_a_plugin_without_its_component() {
    assert_open_job_does_not_get_the_folder(|config| with_source(config, "none.wasm"));
    assert_open_job_does_not_get_the_folder(with_other_digest);
}

fn assert_open_job_does_not_get_the_folder(break_plugin: impl Fn(&str) -> String) {
    let place = TestEnv::witness("atomic")
        .with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))])
        .with_approved(vec![]);
    let waiting = place.latch(&place.run_args());
    assert_eq!(waiting.code, 3, "{} {}", waiting.stdout, waiting.stderr);
    let id = waiting.json()["job_id"].as_str().expect("an id").to_owned();
    let mut place = place.edit_config(|config| break_plugin(config).replacen(GRANT, "host = \".\"", 1));
    // The last replay needs the component, which is not configured.
    place.skip_replay_of_damaged_jobs();
    let approved = place.latch(&["job", "approve", &id, "o", "--actor", "grace"]);
    let resumed = place.latch(&["resume", "--json"]);
    let printed = format!("{} {} {} {}", approved.stdout, approved.stderr, resumed.stdout, resumed.stderr);
    assert_ne!(place.only_job()["state"], "COMPLETED", "{printed}");
    let doctor = place.latch(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("contains the configuration file"), "{}", doctor.stdout);
}

/// I238: a writable folder with the component of another plugin is refused, and the error names that plugin.
#[test]
fn plugin_with_a_writable_folder_of_components_is_refused() {
    let place = TestEnv::witness("atomic");
    let config = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
    let source = config.lines().find_map(|line| line.strip_prefix("source = ")).expect("a source").trim_matches('"');
    std::fs::create_dir(place.dir.join("components")).unwrap();
    std::fs::copy(source, place.dir.join("components/witness.wasm")).unwrap();
    let place = place.edit_config(|config| {
        let moved = with_source(config, "components/witness.wasm");
        let (first, second) = moved.split_once(GRANT).expect("the grant of the first tool");
        format!("{first}{GRANT}{}", second.replacen(GRANT, "host = \"components\"", 1))
    });
    let ran = place.latch(&["plugin", "list", "--json"]);
    let error = ran.json()["error"].clone();
    assert_eq!((ran.code, &error["code"]), (2, &json!("L0027")), "{} {}", ran.stdout, ran.stderr);
    let problem = &error["problems"][0];
    assert_eq!(problem["plugin"], "witness-queryable", "{error:#}");
    let message = problem["message"].as_str().expect("a text");
    assert!(message.contains("contains the source of plugin \"witness\""), "{message}");
    assert!(message.contains("remove `write`"), "{message}");
}
