//! Limits of operators and tenants within one worker, and calls that wait for a permit.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::plans::fetches::{env_with_fetch_tool, fetch_step, submit_detached, write_plan};
use crate::support::running_worker;
use crate::support::running_worker::RunningWorker;
use crate::support::servers::http::TestServer;
use crate::support::suspension::env_with_short_lease;
use crate::support::test_env::{TestEnv, step};
use crate::support::waiting::wait_until;

/// I96: an operator's limit applies to all jobs of a process, and within one `call-all`. A tenant's limit applies to
/// that tenant's jobs.
#[test]
fn operator_and_tenant_limits_apply() {
    // Answers take long enough for calls to overlap on a busy machine.
    let takes = Duration::from_secs(1);
    let server = TestServer::start().with_delay(takes);
    let limits = "[worker]\njobs = 8\ntenants = { acme = 2 }\noperators = { \"Web.Fetch\" = { at_once = 3 } }";
    let place = env_with_fetch_tool(&server, limits);
    let call = |n: u32| json!({ "operator": "Web.Fetch", "args": { "url": server.url(&format!("/op/{n}")) } });
    let calls: Vec<Value> = (0..7).map(call).collect();
    write_plan(&place, &[step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }))]);
    let first = submit_detached(&place, &[]);
    write_plan(
        &place,
        &(0..3).map(|n| fetch_step(&format!("f{n}"), &[], server.url(&format!("/op/f{n}")))).collect::<Vec<_>>(),
    );
    submit_detached(&place, &[]);
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 2 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(
        (server.requests().len(), server.max_concurrent("op")),
        (10, 3),
        "the maximum is exactly the limit of three"
    );
    let replayed = place.latch(&["job", "replay", &first, "--every-prefix", "--json"]);
    assert_eq!(replayed.code, 0, "{}", replayed.stdout);

    let server = TestServer::start().with_delay(takes);
    let limits = "[worker]\njobs = 8\ntenants = { acme = 2 }\noperators = { \"Driver.Run\" = { at_once = 1 } }";
    let place = env_with_fetch_tool(&server, limits);
    for n in 0..6 {
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/acme/{n}")))]);
        submit_detached(&place, &["--tenant", "acme"]);
        write_plan(&place, &[fetch_step("a", &[], server.url(&format!("/other/{n}")))]);
        submit_detached(&place, &["--tenant", "other"]);
        let calls = [json!({ "operator": "Web.Fetch", "args": { "url": server.url(&format!("/step/{n}")) } })];
        write_plan(&place, &[step("d", "Driver.Run", &[], json!({ "calls": calls }))]);
        submit_detached(&place, &["--tenant", "steps"]);
    }
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 18 }), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(
        (server.max_concurrent("acme"), server.max_concurrent("step")),
        (2, 1),
        "a step has a limit like a tool"
    );
    assert!(server.max_concurrent("other") > 2, "{}", server.max_concurrent("other"));
}

/// I96, I99: a call that waits for its backoff holds no permit of its operator and does not delay a stop. The
/// job is released immediately.
#[test]
fn call_waiting_for_its_backoff_holds_no_permit() {
    let place = env_with_limits("\"Effect.Queryable\" = { at_once = 1 }");
    let call = |operator: &str, note: u32| json!({ "operator": operator, "args": { "note": note, "after_ms": 1_000 } });
    let reads = (1..=3).map(|note| call("Effect.Queryable", note));
    let calls: Vec<Value> = reads.chain([call("Effect.Keyed", 4)]).collect();
    let mut driver = step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }));
    // The backoff is a random time of up to a day, so it practically never ends during the test.
    driver["retry"] = json!({ "max": 5, "base_ms": 86_400_000, "cap_ms": 86_400_000 });
    let place = place.with_plan(&[driver]);
    let job = running_worker::submit_detached(&place);
    let tries = |place: &TestEnv| {
        let all = running_worker::events_of(place, &job);
        all.iter().filter(|event| event["type"] == "tool_invocation_started" && event["slot"] == "d/3").count()
    };
    for nth in 1..=2 {
        let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
        wait_until("the keyed call is in flight", || tries(&place) == nth);
        drop(working);
    }
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("the others are done", || place.effect_counts().get("d/2").is_some_and(|times| *times > 0));
    let place = place.with_approved(vec!["q"]);
    let place = place.with_plan(&[step("q", "Effect.Queryable", &[], json!({ "note": 77 }))]);
    running_worker::submit_detached(&place);
    wait_until("another job's call is made", || place.effect_counts().contains_key("q"));
    // Waits until the other job has ended. The answer of the other job's call is recorded some time after the call. If
    // the worker were stopped before the answer is recorded, it would release the other job, too.
    wait_until("the other job is over", || running_worker::open_jobs(&place).len() == 1);
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally}");
    assert_eq!(tries(&place), 2, "the call still waits");
}

/// Creates an environment with these operator limits.
fn env_with_limits(limits: &str) -> TestEnv {
    let place = env_with_short_lease("atomic").with_approved(vec!["d"]);
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).expect("the configuration was written");
    let limits = format!("[worker]\noperators = {{ {limits} }}\n[[plugin]]");
    std::fs::write(&file, config.replacen("[[plugin]]", &limits, 1)).expect("writable");
    place
}

fn concurrent_calls(calls: &[(&str, u32)]) -> Value {
    let call = |(n, (operator, after_ms)): (usize, &(&str, u32))| json!({ "operator": operator, "args": { "note": n, "after_ms": after_ms } });
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    step("d", "Driver.Run", &[], json!({ "calls": calls, "all": true }))
}

/// I182: if a crash leaves several concurrent keyed calls in doubt, all of them are retried before the first call
/// answers.
#[test]
fn concurrent_calls_in_doubt_are_retried_together() {
    let place = env_with_limits("\"Effect.Opaque\" = { at_once = 1 }");
    let place =
        place.with_plan(&[concurrent_calls(&[("Effect.Keyed", 500), ("Effect.Keyed", 500), ("Effect.Keyed", 500)])]);
    let job = running_worker::submit_detached(&place);
    let started = |place: &TestEnv| {
        let all = running_worker::events_of(place, &job);
        all.iter().filter(|event| event["type"] == "tool_invocation_started").count()
    };
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("all calls are in flight", || started(&place) == 3);
    drop(working);
    assert_eq!(place.latch(&["worker", "--until-idle"]).code, 0);
    let all = running_worker::events_of(&place, &job);
    let is = |event: &&Value, kind: &str| event["type"] == kind && event["slot"] != "d";
    let first_answer = all.iter().position(|event| is(&event, "tool_invocation_finished")).expect("they answer");
    let begun = all[..first_answer].iter().filter(|event| is(event, "tool_invocation_started")).count();
    assert_eq!(begun, 6, "each twice, before any answer: {all:#?}");
}

/// I96: a concurrent call starts as soon as it has the permit of its operator. It does not wait until calls of other
/// operators have their permits.
#[test]
fn call_waits_only_for_a_permit_of_its_own_operator() {
    let limits = "\"Effect.Queryable\" = { rate = \"1/1h\" }, \"Effect.Keyed\" = { at_once = 1 }";
    let place = env_with_limits(limits).with_approved(vec!["k"]);
    let place = place.with_plan(&[step("k", "Effect.Keyed", &[], json!({ "note": 7, "after_ms": 3_000 }))]);
    running_worker::submit_detached(&place);
    let working = RunningWorker::start(&place, running_worker::worker_command(&place, &[]));
    wait_until("another job's call is in flight", || place.effect_counts().contains_key("k"));
    let calls = [("Effect.Queryable", 0), ("Effect.Queryable", 0), ("Effect.Keyed", 0)];
    let place = place.with_approved(vec!["d"]).with_plan(&[concurrent_calls(&calls)]);
    running_worker::submit_detached(&place);
    wait_until("the call has got its permit", || place.effect_counts().contains_key("d/2"));
    assert!(
        place.effect_counts().contains_key("d/0") && !place.effect_counts().contains_key("d/1"),
        "{:?}",
        place.effect_counts()
    );
    let (code, tally) = working.stop();
    assert_eq!((code, &tally["released"]), (Some(0), &json!(1)), "{tally}");
}

/// Workers and `doctor` report a limit for an unknown operator or tenant.
#[test]
fn limit_of_an_unknown_operator_or_tenant_is_reported() {
    let server = TestServer::start();
    let limits = "failover = \"synchronous\"\n[policy.acme]\n[policy.team-1]\n[worker]\ntenants = { acem = 2, beta = 3, team-2 = 3 }\noperators = { \"Web.Fetsh\" = \
                  { at_once = 1 }, \"Driver.Run\" = { at_once = 1 } }\n[queue]\ntenants = { acmee = 1 }";
    let place = env_with_fetch_tool(&server, limits);
    let wrong = [
        "failover = \"synchronous\" applies to PostgreSQL",
        "`Web.Fetsh`, which no configured plugin serves now (did you mean `Web.Fetch`?)",
        "[worker] tenants limits `acem`, a tenant without a policy of its own (did you mean `acme`?)",
        "[queue] tenants limits `acmee`",
    ];
    let worked = place.latch(&["worker", "--until-idle"]);
    let doctor = place.latch(&["doctor", "--json"]);
    let checks = doctor.json()["checks"].as_array().unwrap().clone();
    let settings = checks.iter().find(|check| check["check"] == "settings").expect("the unknown names are reported");
    let reported = settings["found"].as_str().unwrap();
    for wrong in wrong {
        assert!(worked.stderr.contains(wrong) && reported.contains(wrong), "{wrong}: {} {reported}", worked.stderr);
    }
    assert_eq!(
        (worked.code, doctor.code, &settings["verdict"]),
        (0, 0, &json!("warn")),
        "the limits are only warnings"
    );
    for right in ["Driver.Run", "beta", "team-2"] {
        assert!(!reported.contains(right), "{reported}");
    }
}

/// I96: a rate limit applies to the calls of one job. Only the minimum delay that the rate causes is checked,
/// because a busy machine adds to the delay.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures real time")]
fn operator_rate_limit_applies() {
    let server = TestServer::start().with_slow_answers();
    let place = env_with_fetch_tool(&server, "[worker]\noperators = { \"Web.Fetch\" = { rate = \"2/1s\" } }");
    write_plan(
        &place,
        &(0..4).map(|n| fetch_step(&format!("f{n}"), &[], server.url(&format!("/op/{n}")))).collect::<Vec<_>>(),
    );
    submit_detached(&place, &[]);
    let begun = std::time::Instant::now();
    let ran = place.latch(&["worker", "--until-idle", "--json"]);
    assert_eq!(ran.json()["rested"], json!({ "COMPLETED": 1 }), "{} {}", ran.stdout, ran.stderr);
    // Two calls start immediately, then one call every half second.
    assert!(begun.elapsed() >= Duration::from_millis(1_000), "{:?}", begun.elapsed());
}
