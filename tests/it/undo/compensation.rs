//! Compensation from the command line, with real components, processes and databases.

use serde_json::{Value, json};

use crate::support::plans::bookings::{
    assert_replayable_and_verified, bookings, job_id, never_ending_wait, run_plan, show_job, with_field, write_plan,
};
use crate::support::program::{CommandOutput, latch_command};
use crate::support::test_env::{TestEnv, step};

fn resolve_and_resume(place: &TestEnv, job: &str, more: &[&str]) -> Value {
    let args = [&["job", "resolve", job, "--actor", "bob", "--reason", "looked"], more].concat();
    let resolved = place.latch(&args);
    assert_eq!(resolved.code, 0, "{} {}", resolved.stdout, resolved.stderr);
    place.latch(&["resume", job, "--json"]);
    show_job(place, job)
}

fn cancel_job(place: &TestEnv, job: &str) -> CommandOutput {
    place.latch(&["job", "cancel", job, "--json", "--actor", "bob", "--reason", "enough"])
}

/// Returns slot and state of each compensation, in the order of undoing.
fn compensation_states(response: &Value) -> Vec<(&str, &str)> {
    let views = response["compensations"].as_array().map(Vec::as_slice).unwrap_or_default();
    views.iter().map(|view| (view["slot"].as_str().unwrap(), view["state"].as_str().unwrap())).collect()
}

fn result_types(response: &Value) -> Vec<&str> {
    let steps = response["steps"].as_array().expect("a list");
    steps.iter().map(|step| step["result_type"].as_str().unwrap_or_default()).collect()
}

/// Returns the slots of a job's events of one kind, in order.
fn event_slots(place: &TestEnv, job: &str, kind: &str) -> Vec<String> {
    let document = place.latch(&["job", "events", job, "--json"]).json();
    let all = document["events"].as_array().expect("a list").iter();
    let found = all.filter(|event| event["type"] == kind);
    found.map(|event| event["slot"].as_str().unwrap_or_default().to_owned()).collect()
}

/// I37: a cancelled job undoes each effect once, the last effect first, with the compensation of each call.
#[test]
fn cancelled_job_undoes_its_bookings() {
    let place = TestEnv::undo("atomic").fresh_copy();
    write_plan(&place, "keep", &bookings());
    let stopped = run_plan(&place, &[]);
    assert_eq!(stopped.code, 3, "{} {}", stopped.stdout, stopped.stderr);
    let job = job_id(&stopped.json());
    assert_eq!(place.effect_counts().len(), 3, "{:?}", place.effect_counts());
    let ran = cancel_job(&place, &job);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let response = ran.json();
    assert_eq!(response["status"], "cancelled");
    assert_eq!(compensation_states(&response), [("d/0", "compensated"), ("b", "compensated"), ("a", "compensated")]);
    assert_eq!(
        response["compensations"][1]["by"],
        json!({ "operator": "Booking.Cancel", "slot": "b~c", "own": false })
    );
    assert_eq!(result_types(&response), ["compensated", "compensated", "compensated", ""]);
    assert_eq!(event_slots(&place, &job, "compensation_finished"), ["d/0~c", "b~c", "a~c"]);
    let world = place.effect_counts();
    for slot in ["a", "b", "d/0"] {
        assert_eq!((world.get(slot), world.get(&format!("undone {slot}"))), (Some(&1), Some(&1)), "{world:?}");
    }
    // A compensating call has a key of its own, and receives the key of the call that it undoes.
    for (slot, key) in [("a", "a~c"), ("b", "b~c"), ("d-0", "d/0~c")] {
        let file = effect_files(&place)
            .into_iter()
            .find(|name| name.starts_with("undone.") && name.contains(&format!("-{slot}-")));
        let text = std::fs::read_to_string(place.dir.join("effects").join(file.expect("it is there"))).unwrap();
        assert!(text.starts_with(&format!("latch:{job}:{key}:")), "{text}");
    }
    assert_replayable_and_verified(&place, &job, "cancelled");
    let displayed = place.latch(&["job", "show", &job]).stdout;
    assert!(displayed.contains("d/0 Booking.Make: compensated, d/0~c: by its own plugin"), "{displayed}");
    assert!(displayed.contains("compensated"), "{displayed}");
    // A retry of the cancelled job is refused and changes nothing.
    assert_eq!(place.latch(&["job", "retry", &job]).code, 2);
    assert_eq!(place.effect_counts().len(), 6);

    // Undoing frees the action keys, so another job can perform the same actions.
    let again = run_plan(&place, &["--new"]);
    assert_eq!(again.code, 3, "{} {}", again.stdout, again.stderr);
    assert_eq!(
        effect_files(&place).iter().filter(|name| name.starts_with("made.")).count(),
        6,
        "{:?}",
        effect_files(&place)
    );
}

fn effect_files(place: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(place.dir.join("effects")).expect("the world exists");
    entries.map(|entry| entry.expect("readable").file_name().into_string().expect("plain names")).collect()
}

/// I37: if a step fails and `on_failure` is `compensate`, the effects of the job are undone. With `keep`, the effects
/// stay.
#[test]
fn failed_job_rolls_back() {
    let place = TestEnv::undo("atomic").fresh_copy();
    let mut steps = bookings();
    steps[3] = step("f", "Booking.Make", &["d"], json!({ "refuse": true }));
    write_plan(&place, "compensate", &steps);
    let ran = run_plan(&place, &[]);
    let response = ran.json();
    assert_eq!((ran.code, &response["state"]), (3, &json!("PARTIAL")), "{response:#}");
    assert_eq!(compensation_states(&response), [("d/0", "compensated"), ("b", "compensated"), ("a", "compensated")]);
    assert_eq!(result_types(&response), ["compensated", "compensated", "compensated", "permanent_failure"]);
    assert_eq!(response["failed"][0]["step_id"], "f");
    assert!(response["next_actions"].as_array().unwrap().is_empty(), "an undone step is not retried");
    let job = job_id(&response);
    assert_eq!(place.latch(&["job", "retry", &job, "--json"]).code, 2);
    assert_replayable_and_verified(&place, &job, "rolled back");
    // The fork executes all steps again, because no undone step is copied. Its first call waits for approval.
    let fork = place.latch(&["job", "fork", &job, "--at", "f", "--json", "--actor", "ada"]);
    let forked = fork.json();
    assert_eq!((fork.code, &forked["blocked_on"]["slot"]), (3, &json!("a")), "{forked:#}");
    assert_eq!(forked["blocked_on"]["reason_code"], "REQUIRES_APPROVAL");
    assert_eq!(place.effect_counts().len(), 6, "{:?}", place.effect_counts());

    let kept = TestEnv::undo("atomic").fresh_copy();
    write_plan(&kept, "keep", &steps);
    let response = run_plan(&kept, &[]).json();
    assert_eq!((&response["state"], compensation_states(&response).len()), (&json!("PARTIAL"), 0));
    assert_eq!(kept.effect_counts().len(), 3);
}

/// I38: a call that cannot be undone is reported. A failed compensation parks the job until a person decides,
/// and each decision takes effect.
#[test]
fn failed_compensation_parks_the_job_until_a_person_decides() {
    let template = TestEnv::undo("atomic");
    write_plan(&template, "keep", &bookings());
    std::fs::write(template.dir.join("switch/closed"), "").unwrap();
    std::fs::write(template.dir.join("result.json"), r#"{"file":"by hand"}"#).unwrap();
    let parked = || {
        let place = template.fresh_copy();
        let job = job_id(&run_plan(&place, &[]).json());
        let ran = cancel_job(&place, &job);
        let response = ran.json();
        assert_eq!((ran.code, &response["state"]), (3, &json!("PARKED")), "{response:#}");
        let blocked = &response["blocked_on"];
        assert_eq!((&blocked["slot"], &blocked["reason_code"]), (&json!("d/0~c"), &json!("COMPENSATION_FAILED")));
        assert_eq!(response["compensations"][0]["reason_code"], "POLICY_DENIED");
        assert!(response["next_actions"][1].as_str().unwrap().ends_with("d/0~c --not-applied"), "{response:#}");
        assert_replayable_and_verified(&place, &job, "a failed compensation");
        (place, job)
    };
    // The compensation of `b` has not started yet, so it cannot be resolved.
    let (place, job) = parked();
    let refused = place.latch(&["job", "resolve", &job, "b~c", "--not-applied"]);
    assert_eq!(refused.code, 2, "this compensation has not failed yet");
    // The tool accepts cancellations again, and the compensation is retried.
    std::fs::remove_file(place.dir.join("switch/closed")).unwrap();
    let response = resolve_and_resume(&place, &job, &["d/0~c", "--not-applied"]);
    assert_eq!(response["state"], "CANCELLED", "{response:#}");
    assert_eq!(compensation_states(&response), [("d/0", "compensated"), ("b", "compensated"), ("a", "compensated")]);
    assert_eq!(place.effect_counts().len(), 6, "{:?}", place.effect_counts());
    assert_replayable_and_verified(&place, &job, "tried again");
    // First the person states that `d/0` was undone by hand. Then the next compensation, `b~c`, fails as
    // well, and the person decides to leave the effect of `b`. Finally the person gives up the remaining
    // compensations.
    let (place, job) = parked();
    let response = resolve_and_resume(&place, &job, &["d/0~c", "--applied", "result.json"]);
    assert_eq!(response["blocked_on"]["slot"], "b~c", "{response:#}");
    let response = resolve_and_resume(&place, &job, &["b~c", "--abort"]);
    assert_eq!(response["blocked_on"]["slot"], "a~c", "{response:#}");
    let response = resolve_and_resume(&place, &job, &["--abort"]);
    assert_eq!(response["state"], "CANCELLED", "{response:#}");
    assert_eq!(compensation_states(&response), [("d/0", "compensated"), ("b", "left"), ("a", "left")]);
    assert_eq!(result_types(&response)[..3], ["side_effect_committed", "side_effect_committed", "compensated"]);
    assert_eq!(place.effect_counts().len(), 3, "{:?}", place.effect_counts());
    assert_replayable_and_verified(&place, &job, "by hand");

    // A call is reported if its plugin has no `compensate` export and its step has no `compensate_with`. The other
    // calls are undone. If a `compensate` export refuses the operator, the compensation has failed.
    let place = TestEnv::undo("atomic").fresh_copy();
    let steps = [
        step("a", "Booking.Make", &[], json!({ "note": 1 })),
        step("e", "Effect.Opaque", &["a"], json!({ "note": 2 })),
        never_ending_wait("e"),
    ];
    write_plan(&place, "keep", &steps);
    let job = job_id(&run_plan(&place, &["--approve", "e"]).json());
    let response = cancel_job(&place, &job).json();
    assert_eq!(response["state"], "CANCELLED", "{response:#}");
    assert_eq!(compensation_states(&response), [("e", "impossible"), ("a", "compensated")]);
    assert_eq!(result_types(&response), ["compensated", "side_effect_committed", ""]);
    let displayed = place.latch(&["job", "show", &job]).stdout;
    assert!(displayed.contains("e Effect.Opaque: cannot be compensated"), "{displayed}");
    assert_replayable_and_verified(&place, &job, "one that nothing undoes");
    write_plan(&place, "keep", &[step("k", "Booking.Keep", &[], json!({ "note": 9 })), never_ending_wait("k")]);
    let job = job_id(&run_plan(&place, &[]).json());
    let response = cancel_job(&place, &job).json();
    assert_eq!(response["blocked_on"]["reason_code"], "COMPENSATION_FAILED", "{response:#}");
    let response = resolve_and_resume(&place, &job, &["--continue"]);
    assert_eq!((&response["state"], compensation_states(&response)[0]), (&json!("CANCELLED"), ("k", "left")));
}

/// I3, I37: a keyed call in doubt is settled before a committed call is undone. A cancelled job repeats no
/// call.
#[test]
fn call_in_doubt_is_settled_before_anything_is_undone() {
    let place = TestEnv::undo("staged").fresh_copy();
    let steps =
        [step("a", "Booking.Make", &[], json!({ "note": 1 })), step("k", "Effect.Keyed", &["a"], json!({ "note": 2 }))];
    write_plan(&place, "keep", &steps);
    let mut command = latch_command(&place.dir, &["run", "plan.json", "--json", "--actor", "ada", "--approve", "k"]);
    let output = command.env("LATCH_CRASH_AT", "execute:after:2").output().unwrap();
    assert!(output.status.code().is_none(), "the process was killed after the keyed call");
    let job = job_id(&place.only_job());
    let response = cancel_job(&place, &job).json();
    let blocked = &response["blocked_on"];
    assert_eq!((&blocked["slot"], &blocked["reason_code"]), (&json!("k"), &json!("INDETERMINATE_EFFECT")));
    assert_eq!(place.effect_counts().get("k"), Some(&1), "a cancelled job repeats nothing");
    assert_eq!(place.effect_counts().get("undone a"), None, "nothing is undone while a call is in doubt");
    std::fs::write(place.dir.join("result.json"), r#"{"file":null,"note":null}"#).unwrap();
    let response = resolve_and_resume(&place, &job, &["k", "--applied", "result.json"]);
    assert_eq!(response["state"], "CANCELLED", "{response:#}");
    assert_eq!(compensation_states(&response), [("k", "impossible"), ("a", "compensated")]);
    assert_eq!(place.effect_counts().get("undone a"), Some(&1));
    assert_replayable_and_verified(&place, &job, "in doubt, then cancelled");
}

/// I5, I38, I45: a person gives up a cancelled job before anything is undone. Another job with the same action still
/// gets the receipt of the given-up job. This holds in both commit modes, and no matter at which write of the decision
/// the process is killed.
#[test]
fn abandoned_job_killed_at_its_end_still_leaves_its_receipt() {
    for commit in ["atomic", "staged"] {
        let template = TestEnv::undo(commit);
        let make = step("a", "Booking.Make", &[], json!({ "note": 1 }));
        write_plan(&template, "keep", &[with_field(make, "gate", json!("human_confirm")), never_ending_wait("a")]);
        let mut kills = 0;
        for (name, side) in [("group_write", "before"), ("group_write", "after"), ("commit", "before")] {
            for nth in 1.. {
                let place = template.fresh_copy();
                let job = job_id(&run_plan(&place, &["--approve", "a"]).json());
                let asked = cancel_job(&place, &job).json();
                assert_eq!(asked["blocked_on"]["gate_id"], "gate-a~c", "{asked:#}");
                let given_up = place.latch(&["job", "resolve", &job, "--abort", "--reason", "let it be"]);
                assert_eq!(given_up.code, 0, "{}", given_up.stderr);
                let mut resume = latch_command(&place.dir, &["resume", &job]);
                let resumed = resume.env("LATCH_CRASH_AT", format!("{name}:{side}:{nth}")).output().unwrap();
                place.latch(&["resume", &job]);
                let when = format!("{commit}, killed {side} {name} {nth}");
                let response = show_job(&place, &job);
                assert_eq!(
                    (&response["state"], compensation_states(&response)),
                    (&json!("CANCELLED"), vec![("a", "left")]),
                    "{when}"
                );
                let other = run_plan(&place, &["--new"]).json();
                assert_eq!(other["blocked_on"]["reason_code"], "REQUIRES_SIGNAL", "{when}: {other:#}");
                assert_eq!(event_slots(&place, &job_id(&other), "action_reused"), ["a"], "{when}");
                assert_eq!((place.effect_counts().get("a"), place.effect_counts().len()), (Some(&1), 1), "{when}");
                assert_replayable_and_verified(&place, &job, &when);
                if resumed.status.code().is_some() {
                    break;
                }
                kills += 1;
            }
        }
        assert!(kills >= 4, "{commit}: {kills} points were reached");
    }
}

/// Returns the number of messages in a folder of the Maildir.
fn message_count(place: &TestEnv, folder: &str) -> usize {
    std::fs::read_dir(place.dir.join("outbox").join(folder)).map_or(0, Iterator::count)
}

fn approve_and_resume(place: &TestEnv, job: &str, slot: &str) -> Value {
    let ran = place.latch(&["job", "approve", job, slot, "--actor", "bob"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    place.latch(&["resume", job, "--json"]);
    show_job(place, job)
}

/// Runs the golden flow with an additional last step, which fails. The plan then rolls back, and the undo of the letter
/// is approved. If `seen` is true, the letter is marked as read before the undo. Returns the environment, the job and
/// its response.
fn rolled_back_golden_flow(template: &TestEnv, seen: bool) -> (TestEnv, String, Value) {
    let place = template.fresh_copy();
    let file = place.dir.join("plan.json");
    let mut plan: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    plan["on_failure"] = "compensate".into();
    let last = json!({
        "step_id": "s7", "kind": "operator", "name": "Request.Apply", "depends_on": ["s6"],
        "payload": { "request_id": "../556", "set": {} }, "effects": ["internal_write"], "policy_tags": [],
        "cache_policy": "never", "idempotency_template": "wrong:{request_id}",
    });
    plan["steps"].as_array_mut().unwrap().push(last);
    std::fs::write(&file, plan.to_string()).unwrap();
    let response = run_plan(&place, &["--approve", "s5", "--approve", "s6"]).json();
    assert_eq!(response["blocked_on"]["gate_id"], "gate-s6~c", "{response:#}");
    assert_eq!(message_count(&place, "new"), 1, "an approval to send is no approval to undo");
    if seen {
        let (new, cur) = (place.dir.join("outbox/new"), place.dir.join("outbox/cur"));
        let name = std::fs::read_dir(&new).unwrap().next().unwrap().unwrap().file_name();
        std::fs::rename(new.join(&name), cur.join(format!("{}:2,S", name.to_str().unwrap()))).unwrap();
    }
    let job = job_id(&response);
    let response = approve_and_resume(&place, &job, "s6~c");
    (place, job, response)
}

/// I20, I37: if the golden flow (see `TestEnv::golden`) is cancelled at its second gate, its first effect is
/// undone. If a step fails after the letter was sent, the plan rolls back. The message is then removed only
/// if it is still unread.
#[test]
fn golden_flow_undoes_only_unread_messages() {
    let template = TestEnv::golden("atomic");
    let place = template.fresh_copy();
    let job = job_id(&run_plan(&place, &["--approve", "s5"]).json());
    let response = cancel_job(&place, &job).json();
    // The plan gates the step `s5`, so the undo of its effect is gated, too.
    let blocked = &response["blocked_on"];
    assert_eq!((&blocked["gate_id"], &blocked["reason_code"]), (&json!("gate-s5~c"), &json!("REQUIRES_APPROVAL")));
    let displayed_gate = place.latch(&["job", "show", &job]).stdout;
    assert!(displayed_gate.contains("s5~c wants to undo s5, by Request.Apply"), "{displayed_gate}");
    let response = approve_and_resume(&place, &job, "s5~c");
    assert_eq!(
        (&response["state"], compensation_states(&response)),
        (&json!("CANCELLED"), vec![("s5", "compensated")])
    );
    assert_replayable_and_verified(&place, &job, "the golden flow cancelled");

    let (place, job, response) = rolled_back_golden_flow(&template, false);
    assert_eq!(message_count(&place, "new"), 0, "{response:#}");
    assert_eq!(response["blocked_on"]["gate_id"], "gate-s5~c", "{response:#}");
    let response = approve_and_resume(&place, &job, "s5~c");
    assert_eq!(
        (&response["state"], compensation_states(&response)),
        (&json!("PARTIAL"), vec![("s6", "compensated"), ("s5", "compensated")])
    );
    assert_replayable_and_verified(&place, &job, "the golden flow rolled back");

    let (place, job, response) = rolled_back_golden_flow(&template, true);
    assert_eq!(response["blocked_on"]["reason_code"], "COMPENSATION_FAILED", "{response:#}");
    assert_eq!(message_count(&place, "cur"), 1, "a message that was read cannot be undone");
    resolve_and_resume(&place, &job, &["s6~c", "--abort"]);
    let response = approve_and_resume(&place, &job, "s5~c");
    assert_eq!(
        (&response["state"], compensation_states(&response)),
        (&json!("PARTIAL"), vec![("s6", "left"), ("s5", "compensated")])
    );
    assert_replayable_and_verified(&place, &job, "a letter that was seen");
}

/// I18: a plan whose compensation could not work is refused when it is checked.
#[test]
fn plan_with_impossible_compensation_is_refused() {
    let place = TestEnv::undo("atomic").fresh_copy();
    let narrow = |step: Value| with_field(step, "effects", json!(["external_send"]));
    let steps = [
        with_field(
            narrow(step("a", "Effect.Opaque", &[], json!({ "note": 1 }))),
            "compensate_with",
            json!("Booking.Cancel"),
        ),
        with_field(step("b", "Effect.Opaque", &[], json!({ "note": 1 })), "compensate_with", json!("self")),
        with_field(step("c", "Effect.Opaque", &[], json!({ "note": 1 })), "compensate_with", json!("Effect.Read")),
    ];
    write_plan(&place, "keep", &steps);
    let ran = place.latch(&["plan", "check", "plan.json", "--json"]);
    let problems = ran.json()["error"]["problems"].as_array().expect("a list").clone();
    let found: Vec<_> =
        problems.iter().map(|p| (p["code"].as_str().unwrap(), p["pointer"].as_str().unwrap())).collect();
    let expected = [
        ("P034", "/steps/0/compensate_with"),
        ("P035", "/steps/1/compensate_with"),
        ("P035", "/steps/2/compensate_with"),
    ];
    assert_eq!(found, expected, "{}", ran.stdout);
    assert_eq!(
        place.latch(&["plan", "check", "plan.json", "--no-plugins"]).code,
        0,
        "without plugins only the plan itself is checked"
    );
}
