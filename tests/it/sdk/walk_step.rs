//! The same step in every language: it reads time and randomness, makes two calls, emits an event, and is
//! killed on the way.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use latchwork_core::encoding::rng::StepRng;
use latchwork_core::model::ids::{Hash, StepId};
use latchwork_core::model::keys::step_seed;

use crate::sdk::{LANGS, folder_with_plan, outputs_checked_by_replay, step_with_effect};
use crate::support::checkout;
use crate::support::plugins::sdk_tools::{built_project, latch_command, run_latch};
use crate::support::test_env::build_plugin;

/// Maximum number of bytes that a language runtime may draw from the step's random stream before the program
/// starts.
const STREAM_BYTES: usize = 64 << 10;

fn build_walker(lang: &str) -> PathBuf {
    let sources: &[(&str, &str)] = match lang {
        "rust" => return build_plugin(&checkout::copy().join("tests/guests-effects/walk-step")),
        "js" => &[("src/plugin.js", include_str!("walk/plugin.js"))],
        "python" => &[("plugin.py", include_str!("walk/plugin.py"))],
        "c" => &[("plugin.c", include_str!("walk/plugin.c"))],
        _ => &[("plugin.go", include_str!("walk/plugin.go")), ("plugin_test.go", "package main\n")],
    };
    built_project(lang, "step", Some(sources))
}

/// Reads the job's seed from its evidence.
fn job_seed(dir: &Path, job: &str) -> Hash {
    let exported = run_latch(dir, &["job", "export", job, "--out", "-"]).stdout;
    let events = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let seed = events.filter_map(|line| line["event"]["job_seed"].as_str().map(str::to_owned)).next();
    serde_json::from_value(seed.expect("the first event has it").into()).unwrap()
}

/// I52, I181: in each language, the step is killed between its calls and during a call, and continues with the same
/// values. Each call is made once, and the job replays from every prefix. The random numbers come from the stream that
/// the job's seed gives to the step.
#[test]
#[ignore = "compiles a component in each language; run by .ci/long"]
fn same_step_in_every_language_resumes_after_kills_and_replays() {
    let keep = built_project("js", "tool", None);
    for lang in LANGS.into_iter().chain(["rust"]) {
        let walker = build_walker(lang);
        let mut walk = step_with_effect("s", "Walk.There", "read_only", json!({}));
        walk["effects"] = json!(["read_only", "internal_write"]);
        let place = folder_with_plan(&[(&walker, ""), (&keep, "grants = { kv = \"k\" }")], &[walk]);
        for (command, point) in [("run", "execute:after:1"), ("resume", "execute:before:1")] {
            let args = if command == "run" { vec!["run", "plan.json"] } else { vec!["resume"] };
            let killed = latch_command(place.path(), &args).env("LATCH_CRASH_AT", point).output().unwrap();
            let printed = String::from_utf8_lossy(&killed.stderr);
            assert_eq!(killed.status.code(), None, "{lang}: killed at {point}: {printed}");
        }
        let resumed = run_latch(place.path(), &["resume", "--json"]);
        assert_eq!(resumed.code, 0, "{lang}: {} {}", resumed.stdout, resumed.stderr);
        let job = &resumed.json()["jobs"][0];
        assert_eq!(job["state"], "COMPLETED", "{lang}: {job:#}");

        let id = job["job_id"].as_str().unwrap();
        let walked = outputs_checked_by_replay(place.path(), job).remove("s").unwrap();
        // An external key ends with the attempt that first made the call. The first call was made in attempt 1. The
        // second call was first made after a kill, in attempt 2.
        assert_eq!(walked["keys"], json!([format!("latch:{id}:s/0:1"), format!("latch:{id}:s/1:2")]), "{lang}");
        let events = run_latch(place.path(), &["job", "events", id, "--json"]).stdout;
        assert_eq!(events.matches("\"command_committed\"").count(), 2, "{lang}: two calls: {events}");
        assert_eq!(events.matches("\"halfway\"").count(), 1, "{lang}: one event: {events}");
        let (at, until) = (walked["at"].as_f64().unwrap(), walked["until"].as_f64().unwrap());
        assert!(until > at, "{lang}: time advances with the answers: {walked}");

        // The version and variant bits of a UUID are not random, so the two bytes that contain them are not
        // compared.
        let drawn = hex::decode(walked["id"].as_str().unwrap().replace('-', "")).unwrap();
        let plain = |at: &usize| ![6, 8].contains(at);
        let stream = StepRng::new(step_seed(&job_seed(place.path(), id), &StepId::new("s"))).bytes(STREAM_BYTES);
        let found = stream.windows(16).any(|window| (0..16).filter(plain).all(|at| window[at] == drawn[at]));
        assert!(found, "{lang}: {} is not of the step's stream", walked["id"]);
    }
}
