//! Results of jobs: outputs, waiting for a job's end, the list of jobs, and events.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::program;
use crate::support::program::{CommandOutput, latch_command};
use crate::support::test_env::{TestEnv, step, wait};

fn job_id(ran: &CommandOutput) -> String {
    ran.json()["job_id"].as_str().unwrap().to_owned()
}

/// Returns a step whose output is its input.
fn pure_step(id: &str, depends_on: &[&str], payload: Value) -> Value {
    let mut step = step(id, "Driver.Pure", depends_on, payload);
    step["effects"] = json!(["read_only"]);
    step
}

/// Returns the output of `latch job output` as bytes.
fn output_bytes(place: &TestEnv, args: &[&str]) -> Vec<u8> {
    let output = latch_command(&place.dir, &[&["job", "output"], args].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// I140: if standard output is a pipe, `latch job output` prints exactly the recorded bytes of a step's
/// output. The JSON responses about the job contain all outputs as values.
#[test]
fn outputs_are_returned_as_recorded() {
    let long = "line\n".repeat(400);
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[
        pure_step("a", &[], json!({ "text": "grüße \u{202e}x", "n": [1, 2.5] })),
        pure_step("b", &["a"], json!({ "from": { "$ref": "a#/text" }, "long": long })),
    ]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let job = job_id(&ran);
    let b = json!({ "from": "grüße \u{202e}x", "long": long });
    let expected = json!({ "a": { "text": "grüße \u{202e}x", "n": [1, 2.5] }, "b": b });
    assert_eq!((&ran.json()["outputs"], &ran.json()["last_steps"]), (&expected, &json!(["b"])));
    for args in [&["job", "show", &job, "--json"][..], &["resume", &job, "--json"]] {
        assert_eq!(place.latch(args).json()["outputs"], expected, "{args:?}");
    }
    // Without a step id, the output of the last step is printed.
    let whole = output_bytes(&place, &[&job]);
    assert_eq!(whole, output_bytes(&place, &[&job, "b"]));
    assert_eq!(serde_json::from_slice::<Value>(&whole).unwrap(), b);
    assert_ne!(whole.last(), Some(&b'\n'), "nothing is added");
    assert_eq!(place.latch(&["job", "output", &job, "--json"]).json()["outputs"], json!({ "b": b }));

    // A pipe is not a terminal, so `run` and `show` print the whole value.
    let attached = place.latch(&["run", "plan.json"]);
    for displayed in [attached, place.latch(&["job", "show", &job])] {
        let value = format!("{b:#}").replace('\u{202e}', "\\u{202e}");
        let lines: Vec<&str> = displayed.stdout.lines().skip_while(|line| *line != "result of b").skip(1).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_start_matches("  ")).collect();
        let value: Vec<&str> = value.lines().map(|line| line.trim_start_matches("  ")).collect();
        assert_eq!(lines, value, "{}", displayed.stdout);
    }
}

/// The outputs of several last steps are printed as one JSON object that contains the recorded bytes.
#[test]
fn outputs_of_several_last_steps_form_one_object() {
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[
        pure_step("a", &[], json!("one")),
        pure_step("b", &["a"], json!([1])),
        pure_step("c", &["a"], json!({ "x": null })),
    ]);
    let job = job_id(&place.latch(&["run", "plan.json", "--json"]));
    let all = output_bytes(&place, &[&job]);
    assert_eq!(String::from_utf8(all).unwrap(), r#"{"b":[1],"c":{"x":null}}"#);
    assert_eq!(output_bytes(&place, &[&job, "a"]), br#""one""#);
    // The output of a tool step is the tool's answer.
    let place = place.with_plan(&[step("k", "Effect.Keyed", &[], json!({ "note": "n" }))]);
    let job = job_id(&place.latch(&["run", "plan.json", "--json", "--approve", "k"]));
    let answer: Value = serde_json::from_slice(&output_bytes(&place, &[&job])).unwrap();
    assert_eq!(answer["note"], "n", "{answer:#}");
}

/// I140: a missing output is an error that names the step, its state and the next command.
#[test]
fn missing_output_is_an_error_that_names_the_step() {
    let place = TestEnv::witness("atomic")
        .fresh_copy()
        .with_plan(&[pure_step("a", &[], json!({})), pure_step("f", &["a"], json!({ "x": { "$ref": "a#/nothing" } }))]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.json()["state"], "PARTIAL", "{}", ran.stdout);
    let job = job_id(&ran);
    let refused = place.latch(&["job", "output", &job]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    for part in ["error[L0075]", "step f of", "FAILED_FINAL", "job show", "with an output: a"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(output_bytes(&place, &[&job, "a"]), b"{}");
    let unknown = place.latch(&["job", "output", &job, "x", "--json"]);
    assert_eq!((unknown.code, &unknown.json()["error"]["code"]), (2, &json!("L0076")));
    assert!(unknown.json()["error"]["message"].as_str().unwrap().contains("its steps are a, f"), "{}", unknown.stdout);

    // A waiting step has no output yet.
    let place = place.with_plan(&[wait("s", json!({ "wait_kind": "signal", "correlation_key": "k" }))]);
    let job = job_id(&place.latch(&["run", "plan.json", "--json"]));
    let early = place.latch(&["job", "output", &job, "s"]);
    assert_eq!(early.code, 1);
    assert!(early.stderr.contains("WAITING_SIGNAL") && early.stderr.contains("job show"), "{}", early.stderr);
}

/// I141: `latch job wait` ends when the job ends or needs a person, no matter which process executes the job.
/// Its exit code is that of the job's state.
#[test]
fn job_wait_ends_when_the_job_ends_or_needs_a_person() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let timer = wait("t", json!({ "wait_kind": "timer", "duration": "1s" }));
    let place = place.with_plan(&[timer, pure_step("p", &["t"], json!({ "done": true }))]);
    let queued = place.latch(&["run", "plan.json", "--detach", "--json"]);
    let job = job_id(&queued);

    // No process executes the job, so the timeout ends the wait and the job is unchanged.
    let early = place.latch(&["job", "wait", &job, "--timeout", "0s", "--json"]);
    assert_eq!((early.code, &early.json()["error"]["code"]), (3, &json!("L0077")), "{}", early.stdout);
    let early = place.latch(&["job", "wait", &job, "--timeout", "300ms"]);
    assert_eq!((early.code, early.stdout.as_str()), (3, ""));
    for part in ["error[L0077]", "PENDING", "latch job wait", "latch worker"] {
        assert!(early.stderr.contains(part), "{part}: {}", early.stderr);
    }

    // Another process executes the job during the wait.
    let waiting = latch_command(&place.dir, &["job", "wait", &job, "--timeout", "10m", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    let resumed = place.latch(&["resume", &job]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    let waited = program::command_output(waiting.wait_with_output().unwrap());
    assert_eq!((waited.code, &waited.json()["state"]), (0, &json!("COMPLETED")), "{}", waited.stderr);
    assert_eq!(waited.json()["outputs"]["p"], json!({ "done": true }));
    let again = place.latch(&["job", "wait", &job]);
    assert!(again.code == 0 && again.stdout.contains("result of p"), "{}", again.stdout);

    // A gate needs a person, so the call is shown with its exact arguments.
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": "between us" }))]);
    let parked = job_id(&place.latch(&["run", "plan.json", "--json"]));
    let waited = place.latch(&["job", "wait", &parked]);
    assert_eq!(waited.code, 3, "{}", waited.stderr);
    for part in ["REQUIRES_APPROVAL", "note: between us", &format!("latch job approve {parked} o")] {
        assert!(waited.stdout.contains(part), "{part}: {}", waited.stdout);
    }
    let refused = place.latch(&["run", "plan.json", "--new", "--mode", "DRAFT_ONLY", "--json"]);
    assert_eq!(refused.json()["state"], "FAILED");
    assert_eq!(place.latch(&["job", "wait", &job_id(&refused)]).code, 1);
    let none = place.latch(&["job", "wait", "job_0", "--json"]);
    assert_eq!((none.code, &none.json()["error"]["code"]), (2, &json!("L0014")));
}

/// If a job waits at a gate, the next action is printed before the results. Both are on the same stream.
#[test]
fn gate_is_printed_before_the_results() {
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[
        pure_step("a", &[], json!({ "early": 1 })),
        pure_step("z", &[], json!({ "late": 2 })),
        step("o", "Effect.Opaque", &["a"], json!({ "note": "between us" })),
    ]);
    let ran = place.latch(&["run", "plan.json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let job = ran.stdout.split_whitespace().next().unwrap().to_owned();
    let displayed = place.latch(&["job", "show", &job]);
    assert_eq!(ran.stdout, displayed.stdout, "the run ends with the same answer");
    assert!(!ran.stderr.contains("between us"), "{}", ran.stderr);
    let place_of = |part: &str| displayed.stdout.find(part).unwrap_or_else(|| panic!("{part}: {}", displayed.stdout));
    let order = ["(PARKED", "Effect.Opaque", "wants to execute", "note: between us", "next:", "result of z"];
    assert!(order.map(place_of).is_sorted(), "{}", displayed.stdout);
}

/// I142: the list of jobs shows the reason for each job's state, and its age, without loading a job.
#[test]
fn job_list_shows_reason_and_age() {
    let mut place = TestEnv::witness("atomic").fresh_copy();
    place.skip_replay_of_many_jobs();
    let place = place.with_plan(&[pure_step("p", &[], json!({}))]);
    assert_eq!(place.latch(&["run", "plan.json", "--json"]).code, 0);
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]);
    assert_eq!(place.latch(&["run", "plan.json", "--json"]).code, 3);
    assert_eq!(place.latch(&["run", "plan.json", "--new", "--mode", "DRAFT_ONLY", "--json"]).code, 1);
    let place = place.with_plan(&[wait("s", json!({ "wait_kind": "signal", "correlation_key": "k" }))]);
    let waits = job_id(&place.latch(&["run", "plan.json", "--json"]));
    assert_eq!(place.latch(&["job", "cancel", &waits, "--actor", "bob"]).code, 0);
    let listed = place.latch(&["job", "list", "--json"]).json()["jobs"].clone();
    let found: Vec<Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|job| json!([job["state"], job["reason_code"], job["slot"], job["by"], job["duration_us"].is_i64()]))
        .collect();
    let expected = [
        json!(["CANCELLED", null, null, "bob", true]),
        json!(["FAILED", "MODE_FORBIDS", "o", null, true]),
        json!(["PARKED", "REQUIRES_APPROVAL", "o", null, false]),
        json!(["COMPLETED", null, null, null, true]),
    ];
    assert_eq!(found, expected, "{listed:#}");
    assert!(listed.as_array().unwrap().iter().all(|job| job["age_us"].as_i64().is_some_and(|age| age > 0)));
    let text = place.latch(&["job", "list"]).stdout;
    let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["job", "state", "age", "took", "reason", "plan", "actor"], "{text}");
    for part in ["REQUIRES_APPROVAL at o", "MODE_FORBIDS at o", "by bob"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let open = place.latch(&["job", "list", "--open", "--json"]).json()["jobs"].as_array().unwrap().len();
    assert_eq!(open, 1);
}

/// I143: some values of a job were not computed by the job itself, such as a receipt from another job. Every command
/// shows such a value with a phrase for its origin, and each origin has one phrase.
#[test]
fn value_not_computed_here_has_one_phrase_per_origin() {
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[
        step("k", "Effect.Keyed", &[], json!({ "note": "n" })),
        pure_step("p", &["k"], json!({ "of": { "$ref": "k#/note" } })),
    ]);
    let first = job_id(&place.latch(&["run", "plan.json", "--json", "--approve", "k"]));
    let everywhere = |ran: &CommandOutput, phrase: &str| {
        let job = ran.stdout.split_whitespace().next().unwrap().to_owned();
        let [displayed, events] = ["show", "events"].map(|verb| place.latch(&["job", verb, &job]).stdout);
        for (name, text) in [("answer", &ran.stdout), ("show", &displayed), ("events", &events)] {
            assert!(text.contains(phrase), "{name}: {text}");
        }
        job
    };
    let second = place.latch(&["run", "plan.json", "--new", "--approve", "k"]);
    let receipt = format!("receipt returned from {first} k");
    assert!(second.stderr.contains(&receipt), "the live view: {}", second.stderr);
    let job = everywhere(&second, &receipt);
    let fork = place.latch(&["job", "fork", &job, "--at", "p"]);
    assert_eq!(fork.code, 0, "{}", fork.stderr);
    everywhere(&fork, &format!("output copied from {job}"));
}

/// For a user, each event is one line with its time, slot, operator and description.
#[test]
fn events_are_lines_for_users_and_json_for_programs() {
    let calls = json!({ "calls": [{ "operator": "Effect.Read", "args": { "note": 1 } }] });
    let place = TestEnv::witness("atomic").fresh_copy().with_plan(&[step("d", "Driver.Run", &[], calls)]);
    let job = job_id(&place.latch(&["run", "plan.json", "--json"]));
    let text = place.latch(&["job", "events", &job]).stdout;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..2], [&format!("{job},"), "accepted"], "{text}");
    let at = |slot: &str, operator: &str, what: &str| {
        lines.iter().any(|line| line.len() > 4 && line[1].starts_with('+') && line[2..5] == [slot, operator, what])
    };
    assert!(at("d", "Driver.Run", "started") && at("d", "Driver.Run", "succeeded"), "{text}");
    assert!(at("d/0", "Effect.Read", "answered"), "{text}");
    assert!(text.contains("completed") && !text.contains("\"type\""), "{text}");
    let events = place.latch(&["job", "events", &job, "--json"]).json()["events"].as_array().unwrap().clone();
    assert_eq!(lines.len(), events.len() + 1);
    assert!(events.iter().all(|event| event["hash"].is_string() && event["type"].is_string()));
    let rest = place.latch(&["job", "events", &job, "--after", "2"]).stdout;
    assert_eq!(rest.lines().count(), events.len() - 2, "{rest}");
}
