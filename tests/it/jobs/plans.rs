//! Plans as users write them, with steps in short form, and the jobs that run these plans. A short step omits
//! the fields that have defaults.

use serde_json::{Value, json};

use crate::support::evidence::verify_offline;
use crate::support::program;
use crate::support::program::{CommandOutput, run_latch};
use crate::support::test_env::TestEnv;

fn write_plan(place: &TestEnv, file: &str, plan: &Value) {
    std::fs::write(place.dir.join(file), plan.to_string()).expect("writable");
}

/// Runs a plan in `AUTO_EXEC` mode.
fn run_plan(place: &TestEnv, file: &str, more: &[&str]) -> CommandOutput {
    place.latch(&[&["run", file, "--json", "--actor", "ada", "--mode", "AUTO_EXEC"], more].concat())
}

/// Returns the number of executions of all jobs.
fn execution_count(place: &TestEnv) -> usize {
    let names = std::fs::read_dir(place.dir.join("effects")).expect("the effects folder exists");
    names.filter(|entry| !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("applied")).count()
}

fn job_id(response: &Value) -> String {
    response["job_id"].as_str().expect("a response names its job").to_owned()
}

/// Returns the plan for the tests of I145 and I146: a read, and a send whose arguments refer to the read.
fn short_plan() -> Value {
    json!({
        "$schema": "plan.schema.json",
        "steps": [
            { "step_id": "send", "name": "Effect.Opaque", "payload": { "note": 1, "after": { "$ref": "read#" } },
              "effects": ["read_only", "internal_write", "external_write", "external_send"], "gate": "human_confirm" },
            { "step_id": "read", "name": "Effect.Read", "payload": { "note": 0 } },
        ],
    })
}

/// I145, I146: a job with short steps runs, replays and verifies. The plan has no idempotency template, so two jobs do
/// not share one execution of the action.
#[test]
fn short_plan_runs_and_acts_once_per_job() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "short.json", &short_plan());
    let approved = ["run", "short.json", "--json", "--actor", "ada", "--approve", "send"];
    let first = place.latch(&approved);
    let before = execution_count(&place);
    assert_eq!(first.code, 0, "{} {}", first.stdout, first.stderr);
    let job = job_id(&first.json());
    verify_offline(&place, &job, "the short plan");
    let again = place.latch(&approved);
    assert_eq!((job_id(&again.json()), execution_count(&place)), (job, before), "the same request is the same job");
    let other = place.latch(&[&approved[..], &["--new"]].concat());
    let response = other.json();
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert_eq!(execution_count(&place) - before, before, "another job executes the action itself");
    assert!(!other.stdout.contains("reused"), "{response:#}");
    verify_offline(&place, &job_id(&response), "the same plan again");
}

/// I145: a short step must state its effects if they exceed the default. The refusal prints the line to add.
#[test]
fn refusal_of_a_short_step_prints_the_missing_line() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let mut plan = short_plan();
    plan["steps"][0].as_object_mut().unwrap().remove("effects");
    write_plan(&place, "narrow.json", &plan);
    let refused = run_plan(&place, "narrow.json", &[]);
    let problem = &refused.json()["error"]["problems"][0];
    assert_eq!((refused.code, &problem["code"], &problem["pointer"]), (2, &json!("P019"), &json!("/steps/0/effects")));
    let message = problem["message"].as_str().unwrap();
    let line = message.split_once("add ").expect("a line to add").1.trim_end_matches(" to step send");
    let (key, effects) = line.split_once(": ").expect("a key and its value");
    assert_eq!(key, "\"effects\"");
    plan["steps"][0]["effects"] = serde_json::from_str(effects).expect("the value is JSON");
    write_plan(&place, "narrow.json", &plan);
    assert_eq!(place.latch(&["plan", "check", "narrow.json"]).code, 0, "the printed line is accepted");
}

/// I145: `--explain` shows the normal form and marks the values that the plan leaves out.
#[test]
fn explained_plan_marks_default_values() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("short.json"), short_plan().to_string()).unwrap();
    let check = ["plan", "check", "short.json", "--no-plugins", "--explain"];
    let checked = run_latch(folder.path(), &check);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let lines: Vec<String> =
        checked.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let at = |line: &str| lines.iter().position(|found| found == line).unwrap_or_else(|| panic!("{line}: {lines:#?}"));
    assert!(at("+ plan_id \"plan\"") < at("step read: Effect.Read"));
    assert!(at("step read: Effect.Read") < at("step send: Effect.Opaque"), "in the order of execution");
    assert!(at("+ depends_on [\"read\"]") > at("step send: Effect.Opaque"));
    assert!(at("gate \"human_confirm\"") > at("step send: Effect.Opaque"), "what was written is not marked");
    assert!(lines.iter().filter(|line| *line == "+ idempotency_template null").count() == 2, "{lines:#?}");
    let document = run_latch(folder.path(), &[&check[..], &["--json"]].concat()).json();
    let filled = document["filled"].as_array().unwrap();
    assert!(filled.contains(&json!("/steps/1/depends_on")) && !filled.contains(&json!("/steps/1/gate")), "{filled:?}");
    for pointer in filled {
        assert!(document["plan"].pointer(pointer.as_str().unwrap()).is_some(), "{pointer}");
    }
    // The normal form is accepted unchanged and has the same plan hash.
    std::fs::write(folder.path().join("full.json"), document["plan"].to_string()).unwrap();
    let again = run_latch(folder.path(), &["plan", "check", "full.json", "--no-plugins", "--json"]).json();
    assert_eq!((&again["plan_hash"], &again["filled"]), (&document["plan_hash"], &json!([])));
}

/// Returns the plan for the tests of I147, in which the arguments and the action key come from parameters.
fn letter_plan() -> Value {
    json!({
        "plan_id": "letter",
        "parameters": {
            "properties": {
                "professor": { "type": "integer" },
                "tone": { "enum": ["warm", "plain"], "default": "warm" },
            },
            "required": ["professor"],
        },
        "steps": [
            { "step_id": "read", "name": "Effect.Read", "payload": { "note": { "$ref": "intent#/tone" } } },
            { "step_id": "send", "name": "Effect.Keyed", "payload": { "note": { "$ref": "intent#/professor" } },
              "effects": ["read_only", "internal_write", "external_write", "external_send"],
              "hashes": { "who": { "$ref": "intent#/professor" } }, "idempotency_template": "letter:{who}",
              "depends_on": ["read"] },
        ],
    })
}

fn run_letter(place: &TestEnv, more: &[&str]) -> CommandOutput {
    place.latch(&[&["run", "letter.json", "--json", "--actor", "ada", "--approve", "send"], more].concat())
}

/// I147: each different set of parameter values is a separate request. A request does not depend on the options that
/// set the values. A value equal to the default is the same as an omitted value.
#[test]
fn each_set_of_parameter_values_is_its_own_request() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "letter.json", &letter_plan());
    std::fs::write(place.dir.join("values.json"), r#"{"professor": 910}"#).unwrap();
    let first = run_letter(&place, &["--set", "professor=910"]);
    assert_eq!(first.code, 0, "{} {}", first.stdout, first.stderr);
    let job = job_id(&first.json());
    let one = execution_count(&place);
    for same in [
        &["--set", "professor=910"][..],
        &["--input", "values.json"],
        &["--set", "tone=warm", "--set", "professor=910.0"],
        &["--input", "values.json", "--set", "tone=warm"],
    ] {
        let again = run_letter(&place, same);
        assert_eq!((again.code, job_id(&again.json())), (0, job.clone()), "{same:?}: {}", again.stderr);
    }
    let plain = run_letter(&place, &["--set", "professor=910", "--set", "tone=plain"]);
    assert_ne!(job_id(&plain.json()), job);
    assert_eq!(
        execution_count(&place),
        one,
        "one action, because its key contains only the professor: {}",
        plain.stderr
    );
    let other = run_letter(&place, &["--input", "values.json", "--set", "professor=911"]);
    assert_eq!(
        (other.code, execution_count(&place)),
        (0, 2 * one),
        "another professor, another effect: {}",
        other.stderr
    );
    for job in [&job, &job_id(&plain.json()), &job_id(&other.json())] {
        verify_offline(&place, job, "both jobs");
    }
    // A request file passes the values as the payload of its intent.
    let request = json!({ "intent": { "type": "letter", "payload": { "professor": 910, "tone": "warm" } }, "plan": letter_plan() });
    write_plan(&place, "request.json", &request);
    let run = |more: &[&str]| {
        place.latch(&[&["run", "request.json", "--json", "--actor", "ada", "--approve", "send"], more].concat())
    };
    let asked = run(&[]);
    assert_eq!(asked.code, 0, "{} {}", asked.stdout, asked.stderr);
    assert_ne!(job_id(&asked.json()), job, "another intent is another request");
    assert_eq!(job_id(&run(&["--set", "tone=warm"]).json()), job_id(&asked.json()));
    assert_eq!(place.latch(&["plan", "check", "request.json"]).code, 0);
}

/// I147: the log contains only the hash of the parameter values. An evidence file without the values still
/// verifies, and a fork has the values.
#[test]
fn parameters_are_withheld_forked_and_replayed() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "letter.json", &letter_plan());
    let ran = run_letter(&place, &["--set", "professor=3133731337"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let job = job_id(&ran.json());
    let exported = place.latch(&["job", "export", &job, "--out", "whole.jsonl"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let text = std::fs::read_to_string(place.dir.join("whole.jsonl")).unwrap();
    let accepted: Value = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|line| line["event"]["type"] == "intent_accepted")
        .expect("the first event");
    assert!(accepted["event"]["parameters"]["hash"].is_string(), "{accepted:#}");
    assert!(!accepted.to_string().contains("3133731337"), "the event has no value");
    assert!(text.contains("3133731337"), "the payload has");
    let withheld = place.latch(&["job", "export", &job, "--out", "bare.jsonl", "--withhold-all"]);
    assert_eq!(withheld.code, 0, "{}", withheld.stderr);
    assert!(!std::fs::read_to_string(place.dir.join("bare.jsonl")).unwrap().contains("3133731337"));
    for file in ["whole.jsonl", "bare.jsonl"] {
        let verified = place.latch(&["verify", file]);
        assert_eq!(verified.code, 0, "{file}: {} {}", verified.stdout, verified.stderr);
    }
    let only = place.latch(&["job", "export", &job, "--out", "-", "--withhold", "parameters"]);
    assert_eq!(only.code, 0, "{}", only.stderr);
    let fork = place.latch(&["job", "fork", &job, "--at", "send", "--json"]);
    assert!([0, 3].contains(&fork.code), "{} {}", fork.stdout, fork.stderr);
    verify_offline(&place, &job_id(&fork.json()), "the fork");
}

/// I148: a refused parameter value is named with its source, and no job is started.
#[test]
fn refused_values_are_named_with_their_source() {
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "letter.json", &letter_plan());
    let problems = |more: &[&str]| {
        let ran = run_letter(&place, more);
        let error = ran.json()["error"].clone();
        assert_eq!((ran.code, &error["code"]), (2, &json!("L0083")), "{more:?}: {error:#}");
        error
    };
    let missing = problems(&[]);
    assert_eq!(missing["problems"][0]["code"], "P040", "{missing:#}");
    assert!(missing["problems"][0]["message"].as_str().unwrap().contains("--set professor=VALUE"), "{missing:#}");
    let wrong = problems(&["--set", "professor=many", "--set", "tonne=warm"]);
    let codes: Vec<_> = wrong["problems"].as_array().unwrap().iter().map(|problem| &problem["code"]).collect();
    assert_eq!(codes, ["P038", "P039"], "{wrong:#}");
    assert!(wrong["problems"][0]["message"].as_str().unwrap().contains("did you mean `tone`"), "{wrong:#}");
    assert_eq!(wrong["problems"][1]["flag"], "--set");
    std::fs::write(place.dir.join("values.json"), "{\"professor\": 1,\n \"tone\": \"loud\"}").unwrap();
    let file = problems(&["--input", "values.json"]);
    let problem = &file["problems"][0];
    assert_eq!((&problem["file"], &problem["line"]), (&json!("values.json"), &json!(2)), "{file:#}");
    std::fs::write(place.dir.join("values.json"), "[1]").unwrap();
    assert!(problems(&["--input", "values.json"])["message"].as_str().unwrap().contains("JSON object"));
    std::fs::write(place.dir.join("values.json"), "{\"professor\": 1, \"professor\": 2}").unwrap();
    assert!(problems(&["--input", "values.json"])["message"].as_str().unwrap().contains("values.json:1:"));
    let twice = run_letter(&place, &["--set", "professor=1", "--set", "professor=2"]);
    assert_eq!((twice.code, &twice.json()["error"]["code"]), (2, &json!("L0010")));
    let request = json!({ "intent": { "type": "letter", "payload": { "professor": "x" } }, "plan": letter_plan() });
    write_plan(&place, "request.json", &request);
    for command in [&["run", "request.json", "--json"][..], &["plan", "check", "request.json", "--json"]] {
        let error = place.latch(command).json()["error"].clone();
        assert_eq!(error["problems"][0]["pointer"], "/intent/payload/professor", "{error:#}");
    }
    // A plan without parameters accepts no values.
    write_plan(&place, "short.json", &short_plan());
    let none = run_plan(&place, "short.json", &["--set", "x=1"]);
    assert_eq!((none.code, &none.json()["error"]["code"]), (2, &json!("L0083")), "{}", none.stdout);
    assert_eq!(place.latch(&["job", "list", "--json"]).json()["jobs"], json!([]), "nothing was started");
}

/// I148: `-` reads a plan or a request from stdin, with the configuration of the working directory. The
/// request is the same as from a file.
#[test]
fn plan_is_read_from_stdin() {
    use std::io::Write as _;
    use std::process::Stdio;
    let place = TestEnv::witness("atomic").fresh_copy();
    write_plan(&place, "letter.json", &letter_plan());
    let piped = |args: &[&str], text: &str| {
        let mut child = program::latch_command(&place.dir, args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("latch runs");
        child.stdin.take().expect("stdin is piped").write_all(text.as_bytes()).expect("latch reads stdin");
        program::command_output(child.wait_with_output().expect("it ends"))
    };
    let flags = ["--json", "--actor", "ada", "--approve", "send"];
    let plan = letter_plan().to_string();
    let first = piped(&[&["run", "-", "--set", "professor=1"], &flags[..]].concat(), &plan);
    assert_eq!(first.code, 0, "{} {}", first.stdout, first.stderr);
    let from_file = run_letter(&place, &["--set", "professor=1"]);
    assert_eq!(job_id(&from_file.json()), job_id(&first.json()));
    let values = piped(&[&["run", "letter.json", "--input", "-"], &flags[..]].concat(), r#"{"professor": 1}"#);
    assert_eq!(job_id(&values.json()), job_id(&first.json()));
    let both = piped(&["run", "-", "--input", "-", "--json"], &plan);
    assert_eq!((both.code, &both.json()["error"]["code"]), (2, &json!("L0010")));
    let bad = piped(&["plan", "check", "-", "--json"], "{\n  \"steps\": 1}");
    assert!(bad.json()["error"]["message"].as_str().unwrap().starts_with("stdin is refused"), "{}", bad.stdout);
    assert_eq!(bad.json()["error"]["problems"][0]["line"], 2);
    let good = piped(&["plan", "check", "-", "--json"], &plan);
    assert_eq!((good.code, &good.json()["plan_id"]), (0, &json!("letter")), "{}", good.stderr);
}
