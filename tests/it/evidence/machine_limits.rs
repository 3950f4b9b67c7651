//! Replay and verification of steps that need, or needed, more time than their pinned limit.

use latchwork_core::model::bounds;
use serde_json::json;

use crate::support::plugins::built_guests::guest;
use crate::support::test_env::{TestEnv, step};

/// Creates an environment with a step plugin whose pinned time is 50 ms. The plan has one step, which uses this plugin.
fn env_with_short_time(input: serde_json::Value, timeout: &str) -> TestEnv {
    let config = format!(
        "[[plugin]]\nname = \"hostile\"\nsource = {:?}\nlimits = {{ timeout = \"50ms\", fuel = 100_000_000_000 }}\n",
        guest("hostile-step")
    );
    let mut slow = step("s", "Hostile.Do", &[], input);
    slow["timeout"] = json!(timeout);
    slow["effects"] = json!([]);
    TestEnv::configured(&config, vec![]).with_plan(&[slow])
}

fn verify(place: &TestEnv, job: &str) -> (i32, serde_json::Value) {
    assert_eq!(place.latch(&["job", "export", job, "--out", "job.jsonl", "--force"]).code, 0);
    let plugins = guest("hostile-step").parent().unwrap().display().to_string();
    let verified = place.latch(&["verify", "job.jsonl", "--plugins", &plugins, "--json"]);
    (verified.code, verified.json())
}

/// I206: in a replay, too, the timeout in the plan replaces the pinned one.
#[test]
fn replay_and_verification_allow_the_time_of_the_plan() {
    let place = env_with_short_time(json!({ "do": "work", "n": 100_000_000 }), "60s");
    let ran = place.latch(&place.run_args());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let job = ran.json()["job_id"].as_str().unwrap().to_owned();
    let replayed = place.latch(&["job", "replay", &job, "--json"]);
    assert_eq!((replayed.code, &replayed.json()["divergence"]), (0, &json!(null)), "{}", replayed.stdout);
    assert_eq!(replayed.json()["not_checked"], json!(null), "{}", replayed.stdout);
    let (code, report) = verify(&place, &job);
    assert_eq!(code, 0, "{report:#}");
    assert!(!report.to_string().contains("machine_limit"), "{report:#}");
}

/// I206: replay and verification do not check a step that a time limit ended, and report no difference for it.
#[test]
fn end_by_a_limit_of_time_is_not_checked() {
    let place = env_with_short_time(json!({ "do": "spin" }), "50ms");
    let ran = place.latch(&place.run_args());
    assert_eq!(ran.json()["failed"][0]["reason_code"], "WALL_CLOCK_LIMIT", "{}", ran.stdout);
    let job = ran.json()["job_id"].as_str().unwrap().to_owned();
    let replayed = place.latch(&["job", "replay", &job, "--json"]);
    assert_eq!((replayed.code, &replayed.json()["not_checked"]), (0, &json!(["s"])), "{}", replayed.stdout);
    let output = place.latch(&["job", "replay", &job]);
    assert!(output.stdout.contains("not checked, because a limit of time or stack ended it: s"), "{}", output.stdout);
    let (code, report) = verify(&place, &job);
    assert_eq!(code, 0, "{report:#}");
    assert!(report.to_string().contains("machine_limit"), "{report:#}");
}

/// I271: bound `foreign_fuel`. After the fuel of `--max-fuel`, no further step is executed again, and the report lists
/// the steps that are left. One unit is enough to begin with the first step.
#[test]
fn verification_stops_after_its_fuel() {
    let config = format!("[[plugin]]\nname = \"hostile\"\nsource = {:?}\n", guest("hostile-step"));
    let work = |id: &str, after: &[&str]| {
        let mut work = step(id, "Hostile.Do", after, json!({ "do": "work", "n": 1_000 }));
        work["effects"] = json!([]);
        work
    };
    let place = TestEnv::configured(&config, vec![]).with_plan(&[work("a", &[]), work("b", &["a"]), work("c", &["b"])]);
    let ran = place.latch(&place.run_args());
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let job = ran.json()["job_id"].as_str().unwrap().to_owned();
    let (code, report) = verify(&place, &job);
    assert_eq!((code, &report["steps_reexecuted"]), (0, &json!(3)), "{report:#}");
    assert!(!report.to_string().contains("not_reexecuted"), "{report:#}");
    let plugins = guest("hostile-step").parent().unwrap().display().to_string();
    let bounded =
        |fuel: &str| place.latch(&["verify", "job.jsonl", "--plugins", &plugins, "--max-fuel", fuel, "--json"]).json();
    let report = bounded("1");
    assert_eq!((&report["steps_reexecuted"], &report["intact"]), (&json!(1), &json!(true)), "{report:#}");
    let left = report["not_checked"].as_array().unwrap().iter().find(|note| note["code"] == "not_reexecuted");
    let message = left.unwrap()["message"].as_str().unwrap();
    assert!(message.ends_with("(--max-fuel 1): b, c"), "{message}");
    assert_eq!(bounded(&bounds::FOREIGN_FUEL.to_string()), verify(&place, &job).1, "the default");
}
