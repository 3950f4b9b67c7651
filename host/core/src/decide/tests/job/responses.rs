//! Tests of the response of a job in each of its states (§13): status, reasons, previews, and commands to type.

use serde_json::{Value, json};

use crate::decide;
use crate::decide::common::single_event;
use crate::decide::tests::support::compensation::job;
use crate::decide::tests::support::{CrashPoint, Sim, compensation, good, step, wait};
use crate::decide::{Context, JobSettlement};
use crate::event::Body;
use crate::model::divergence::Divergence;
use crate::model::effect::{Answer, Output};
use crate::model::error::{Code, Failure};
use crate::model::ids::{Hash, Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::response::{Response, response};
use crate::rules::ledger::RowState;
use crate::state::Durable;
use crate::storage::{AttemptEnd, BatchKind, InboxRequest, ManualVerdict};

fn unknown() -> Answer {
    Answer::Unknown { failure: Failure::new(Code::NetworkTimeout, "?"), kept: None }
}

fn no() -> Answer {
    Answer::NotApplied(Failure::new(Code::AuthForbidden, "not you"))
}

/// Returns the state of the job directly after a worker's claim.
fn claimed(sim: &Sim) -> Durable {
    let mut durable = sim.durable();
    let claim = decide::claimed("w", Hash::default());
    durable.seal(durable.job.attempt + 1, claim, sim.now_us).unwrap();
    durable
}

/// Returns the response after `body` was appended and the attempt ended with `end`.
fn rested(sim: &Sim, body: Body, end: AttemptEnd) -> Response {
    let mut durable = claimed(sim);
    let kind = BatchKind::EndAttempt(end);
    durable.seal(durable.job.attempt, single_event(body).with_kind(kind), sim.now_us).unwrap();
    response(&durable)
}

/// Kills the process before each write in turn. Returns the first job whose first step is in `state`.
fn crashed_at(make: impl Fn() -> Sim, state: StepState) -> Sim {
    for at in 0..50 {
        let mut sim = make();
        let died = sim.process(Some(CrashPoint::Write(at))).is_err();
        if died && sim.durable().job.steps[0].state == state {
            return sim;
        }
    }
    panic!("no write leaves the step {state:?}");
}

/// Records that the job waits until a point in time. Returns the job and that time.
fn waiting(sim: &Sim) -> (Durable, i64) {
    let mut durable = claimed(sim);
    let rest = decide::job_settlement(&durable);
    let JobSettlement::WaitUntil(until_us) = rest else { panic!("it waits for a time, not {rest:?}") };
    let rules = crate::model::rules::Rules::default();
    let context = Context { now_us: sim.now_us, random: 1, rules: &rules, clock_margin_ms: 0 };
    let draft = decide::settle_job(&durable, &rest, &context);
    assert_eq!(draft.events, [Body::JobWaiting { until_us }]);
    assert_eq!(draft.kind, BatchKind::EndAttempt(AttemptEnd::Waiting { wake_at_us: Some(until_us) }));
    durable.seal(durable.job.attempt, draft, sim.now_us).unwrap();
    assert_eq!((durable.job.state, durable.job.waiting_until_us), (JobState::Waiting, Some(until_us)));
    (durable, until_us)
}

fn actions(response: &Response) -> Vec<&str> {
    response.next_actions.iter().map(String::as_str).collect()
}

fn reasons(response: &Response) -> Vec<Option<Code>> {
    response.steps.iter().map(|step| step.reason_code).collect()
}

/// I187: the response never reports a partial result as complete, and a failure names the failed step.
#[test]
fn the_status_is_that_of_the_job() {
    let run = |mode: Mode, answer: Option<Answer>, steps: Vec<Value>| {
        let mut sim = Sim::new(mode, steps);
        sim.script.insert("Opaque".into(), answer.into_iter().collect());
        response(&sim.process(None).unwrap())
    };
    let one = || vec![step("a", "Opaque", &[], json!({}))];
    let two = || vec![step("r", "Read", &[], json!({})), step("a", "Opaque", &["r"], json!({}))];
    let done = run(Mode::AutoExec, None, two());
    assert_eq!((done.status.as_str(), done.mode.as_str(), done.plan_id.as_str()), ("completed", "AUTO_EXEC", "p"));
    let types: Vec<_> = done.steps.iter().map(|step| step.result_type).collect();
    assert_eq!(types, [Some(ResultType::Success), Some(ResultType::SideEffectCommitted)]);
    assert!(done.failed.is_empty() && done.blocked.is_empty() && done.blocked_on.is_none());
    assert!(done.next_actions.is_empty() && done.compensations.is_empty());

    let partial = run(Mode::AutoExec, Some(no()), two());
    assert_eq!((partial.status.as_str(), partial.state), ("partial", JobState::Partial));
    let failed = run(Mode::AutoExec, Some(no()), one());
    assert_eq!((failed.status.as_str(), failed.state), ("failed", JobState::Failed));
    for response in [&partial, &failed] {
        let [view] = &response.failed[..] else { panic!("one step failed: {:?}", response.failed) };
        assert_eq!((view.step_id.as_str(), view.reason_code), ("a", Code::AuthForbidden));
        assert_eq!(view.message, "not you");
        assert_eq!(actions(response), ["latch job retry job_1"]);
        assert_eq!(reasons(response).last(), Some(&Some(Code::AuthForbidden)));
    }
    let parked = run(Mode::HumanGated, None, two());
    assert_eq!((parked.status.as_str(), parked.mode.as_str()), ("partial", "HUMAN_GATED"));
    let mut sim = Sim::new(Mode::HumanGated, one());
    sim.process(None).unwrap();
    sim.send_request(InboxRequest::Cancel);
    let cancelled = response(&sim.process(None).unwrap());
    assert_eq!((cancelled.status.as_str(), cancelled.state), ("cancelled", JobState::Cancelled));
    assert_eq!(cancelled.steps[0].state, StepState::Cancelled);
    assert!(actions(&cancelled).is_empty() && cancelled.blocked.is_empty());
}

#[test]
fn an_open_job_is_running_and_resumed() {
    let sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    let pending = response(&sim.durable());
    assert_eq!((pending.state, pending.status.as_str()), (JobState::Pending, "running"));
    let running = response(&claimed(&sim));
    assert_eq!((running.state, running.status.as_str()), (JobState::Running, "running"));
    for response in [pending, running] {
        assert_eq!(actions(&response), ["latch resume job_1"]);
        assert_eq!(response.reason_code, None);
    }
}

/// If the job waits only for points in time, such as the end of a backoff, the status is `running`. Such a job
/// continues without a person. If the job waits for anything else, the status is `partial`.
#[test]
fn self_continuing_job_is_running_and_waiting_job_is_partial() {
    let retried = || {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
        let later = Failure { retry_after_ms: Some(90_000), ..Failure::new(Code::RateLimit, "429") };
        sim.script.insert("Read".into(), vec![Answer::NotApplied(later)]);
        sim
    };
    let (durable, until_us) = waiting(&crashed_at(retried, StepState::FailedRetryable));
    let view = response(&durable);
    assert_eq!((view.status.as_str(), reasons(&view)), ("running", vec![Some(Code::RetryScheduled)]));
    let blocked = view.blocked_on.clone().unwrap();
    assert_eq!((blocked.reason_code, blocked.slot.as_str()), (Code::RetryScheduled, "a"));
    assert_eq!(blocked.until, Some(until_us));
    assert_eq!(actions(&view), ["latch resume job_1"]);
    assert!(view.failed.is_empty(), "what is tried again has not failed");

    let signal = json!({ "wait_kind": "signal", "correlation_key": "k", "timeout": "60s" });
    let sat_out = || Sim::new(Mode::HumanGated, vec![wait("w", &[], signal.clone())]);
    let (durable, until_us) = waiting(&crashed_at(sat_out, StepState::WaitingSignal));
    let view = response(&durable);
    assert_eq!((view.status.as_str(), reasons(&view)), ("partial", vec![Some(Code::RequiresSignal)]));
    assert_eq!(view.blocked_on.as_ref().unwrap().until, Some(until_us), "when it ends by itself");
    assert_eq!(actions(&view), ["latch job signal job_1 k --payload JSON", "latch resume job_1"]);

    let timer = || json!({ "wait_kind": "timer", "duration": "3d" });
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("t", &[], timer()), wait("u", &[], timer())]);
    let view = response(&sim.process(None).unwrap());
    assert_eq!((view.state, view.status.as_str()), (JobState::Parked, "running"));
    assert_eq!((view.reason_code, reasons(&view)[0]), (Some(Code::WaitingTimer), Some(Code::WaitingTimer)));
    assert_eq!(actions(&view), ["latch resume job_1"], "each command once");
    let unending = json!({ "wait_kind": "human", "correlation_key": "k" });
    let mut sim = Sim::new(Mode::HumanGated, vec![wait("t", &[], timer()), wait("h", &[], unending)]);
    let view = response(&sim.process(None).unwrap());
    assert_eq!((view.status.as_str(), view.blocked.len()), ("partial", 2), "a person is waited for too");
    assert_eq!(view.blocked_on.as_ref(), view.blocked.first());
}

#[test]
fn every_pending_decision_has_a_command() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Script", &[], json!({ "calls": ["Opaque"] }))]);
    let view = response(&sim.process(None).unwrap());
    assert_eq!(actions(&view), ["latch job approve job_1 a/0", "latch job reject job_1 a/0 --reason TEXT"]);
    let blocked = view.blocked_on.clone().unwrap();
    assert_eq!((blocked.gate_id.as_deref(), blocked.slot.as_str()), (Some("gate-a/0"), "a/0"));
    assert_eq!(reasons(&view), [Some(Code::RequiresApproval)]);
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    let view = response(&sim.process(None).unwrap());
    assert_eq!((reasons(&view), view.blocked.len()), (vec![Some(Code::RequiresApproval)], 1));

    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Opaque", &[], json!({ "n": 1 }))]);
    sim.script.insert("Opaque".into(), vec![unknown()]);
    let mut durable = sim.process(None).unwrap();
    let view = response(&durable);
    assert_eq!((view.status.as_str(), view.reason_code), ("partial", Some(Code::IndeterminateEffect)));
    assert_eq!(reasons(&view), [Some(Code::IndeterminateEffect)]);
    let resolve = ["--applied RESULT.json", "--not-applied", "--abort"];
    assert_eq!(actions(&view), resolve.map(|word| format!("latch job resolve job_1 a {word}")));
    let call = view.blocked_on.as_ref().and_then(|blocked| blocked.call.clone()).unwrap();
    assert_eq!((call.operator.as_str(), call.args), ("Opaque", json!({ "n": 1 })));
    assert_eq!(call.external_key.as_deref(), Some("latch:job_1:a:1"), "what to look for outside");
    // The response offers a verdict only if the ledger row is in doubt. The events alone do not suffice.
    durable.rows.get_mut(&Slot::new("a")).unwrap().state = RowState::Inflight;
    assert_eq!(actions(&response(&durable)), ["latch resume job_1"]);
}

#[test]
fn signal_command_is_quoted_for_the_shell() {
    for (key, word) in [
        ("reply-1:a/b@c+d,e=f.g", "reply-1:a/b@c+d,e=f.g"),
        ("reply of ada", "'reply of ada'"),
        ("-rf", "'-rf'"),
        ("it's", r"'it'\''s'"),
        ("$HOME", "'$HOME'"),
    ] {
        let payload = json!({ "wait_kind": "signal", "correlation_key": key });
        let mut sim = Sim::new(Mode::HumanGated, vec![wait("w", &[], payload)]);
        let view = response(&sim.process(None).unwrap());
        assert_eq!(actions(&view), [format!("latch job signal job_1 {word} --payload JSON")]);
    }
}

#[test]
fn action_held_by_another_job_is_reported_and_own_action_is_not() {
    let send = |id: &str| {
        let mut send = step(id, "Opaque", &[], json!({ "to": "ada" }));
        send["idempotency_template"] = json!("send:{to}");
        send
    };
    let mut sim = Sim::new(Mode::AutoExec, vec![send("a"), send("b")]);
    sim.script.insert("Opaque".into(), vec![unknown()]);
    let view = response(&sim.process(None).unwrap());
    assert_eq!(reasons(&view), [Some(Code::IndeterminateEffect), Some(Code::ActionInProgress)]);
    let holder = view.blocked[1].holder.clone().unwrap();
    assert_eq!((holder.job_id.as_str(), holder.slot.as_str()), ("job_1", "a"));
    assert!(actions(&view).iter().all(|action| action.starts_with("latch job resolve job_1 a ")), "{view:?}");
}

#[test]
fn conflict_offers_continue_and_abort() {
    let mut sim = job(Mode::AutoExec, "keep", compensation::plan());
    sim.script.insert("Opaque".into(), vec![unknown()]);
    sim.process(None).unwrap();
    sim.resolve(Slot::new("a"), ManualVerdict::Applied("\"done\"".into()));
    sim.process(None).unwrap();
    sim.resolve(Slot::new("a"), ManualVerdict::NotApplied);
    sim.send_request(InboxRequest::Cancel);
    let view = response(&sim.process(None).unwrap());
    assert_eq!(view.blocked_on.as_ref().unwrap().reason_code, Code::ResolutionConflict);
    assert_eq!(actions(&view), ["latch job resolve job_1 --continue", "latch job resolve job_1 --abort"]);
    assert_eq!(view.contradicted, [Slot::new("a")]);
}

/// After a restore of the database, the response reports the restore first, in every state of the job.
#[test]
fn restored_database_is_reported_first() {
    let mut sim = Sim::new(Mode::HumanGated, vec![step("a", "Opaque", &[], json!({}))]);
    let parked = response(&sim.process(None).unwrap());
    let view = parked.clone().with_restored_database();
    assert_eq!((view.reason_code, actions(&view)), (Some(Code::Restored), vec!["latch doctor --accept-restore"]));
    assert_eq!((view.status, view.blocked), (parked.status, parked.blocked), "what it knows is still shown");
}

/// I40: a diverged job and a crash-looping job report their reason and the next commands.
#[test]
fn diverged_and_crash_looping_jobs_show_cause_and_next_action() {
    let sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    let ways = ["latch job resolve job_1 --continue", "latch job resolve job_1 --abort"];
    let diverged = |at: &str| {
        let report = Box::new(Divergence::new(at, "call", "operator", "Read", "Write"));
        rested(&sim, Body::JobDiverged { report }, AttemptEnd::Diverged)
    };
    let view = diverged("a/2");
    assert_eq!((view.status.as_str(), view.reason_code), ("partial", Some(Code::Diverged)));
    assert_eq!(actions(&view), [ways[0], "latch job fork job_1 --at a", ways[1]]);
    assert_eq!(actions(&diverged("gone")), ways, "no fork at what the plan does not have");
    let body = Body::JobParked { reason: Code::AttemptsExhausted, slot: None, cause: None };
    let view = rested(&sim, body, AttemptEnd::Parked);
    assert_eq!((view.status.as_str(), view.reason_code), ("partial", Some(Code::AttemptsExhausted)));
    assert_eq!((actions(&view), view.blocked.len()), (ways.to_vec(), 0));
}

/// Returns the response of a job with these steps. The operators `Read` and `Model` declare the type and the
/// status of their outcomes, and return `output`.
fn producing(steps: Vec<Value>, status: Option<&str>, output: &str) -> Response {
    let mut sim = Sim::new(Mode::AutoExec, steps);
    let Body::IntentAccepted { mut header } = sim.record.events[0].body.clone() else { panic!("a header") };
    for name in ["Read", "Model"] {
        let pinned = header.operators.get_mut(&Operator::new(name)).unwrap();
        pinned.outcome_type = Some("Email.Draft".into());
        pinned.outcome_status = status.map(str::to_owned);
    }
    sim.begin_with(*header);
    let answer = || Answer::Ok(Output { result: output.to_owned(), ..good() });
    sim.script = ["Read", "Model"].map(|name| (Operator::new(name), vec![answer()])).into();
    response(&sim.process(None).unwrap())
}

/// The plan's declaration of an outcome overrides the operator's declaration. An outcome without a declared status is
/// a draft.
#[test]
fn outcome_follows_plan_then_operator() {
    let read = || step("a", "Read", &[], json!({}));
    let outcome = |response: &Response| {
        let [outcome] = &response.outcomes[..] else { panic!("one outcome: {:?}", response.outcomes) };
        (outcome.outcome_type.clone(), outcome.status.clone(), outcome.preview.clone())
    };
    let of = |kind: &str, status: &str| (kind.to_owned(), status.to_owned(), "\"x\"".to_owned());
    assert_eq!(outcome(&producing(vec![read()], None, "\"x\"")), of("Email.Draft", "draft"));
    assert_eq!(outcome(&producing(vec![read()], Some("final"), "\"x\"")), of("Email.Draft", "final"));
    let mut planned = read();
    planned["outcome"] = json!({ "type": "Text.Review" });
    assert_eq!(outcome(&producing(vec![planned.clone()], Some("final"), "\"x\"")), of("Text.Review", "final"));
    planned["outcome"]["status"] = json!("draft");
    assert_eq!(outcome(&producing(vec![planned], Some("final"), "\"x\"")), of("Text.Review", "draft"));
    // An operator's outcome type applies to a model step, but not to a wait step with the operator's name. The name
    // of a wait step is only a label.
    let mut asked = step("a", "Model", &[], json!({}));
    asked["kind"] = json!("llm");
    assert_eq!(outcome(&producing(vec![asked], None, "\"x\"")), of("Email.Draft", "draft"));
    let mut timer = wait("a", &[], json!({ "wait_kind": "timer", "duration": "1s" }));
    timer["name"] = json!("Read");
    assert!(producing(vec![timer], None, "\"x\"").outcomes.is_empty());

    let two = producing(vec![read(), step("b", "Read", &["a"], json!({}))], None, "\"x\"");
    let ids: Vec<_> = two.outcomes.iter().map(|outcome| outcome.outcome_id.as_str()).collect();
    let job_id = crate::model::ids::JobId::new("job_1");
    assert_eq!(ids, ["a", "b"].map(|id| decide::outcome_id(&job_id, &id.into())));
    let of_another = decide::outcome_id(&crate::model::ids::JobId::new("job_2"), &"a".into());
    assert!(ids[0] != ids[1] && ids[0] != of_another, "{ids:?}");
}

#[test]
fn preview_is_truncated_at_character_boundary() {
    let preview = |text: &str| {
        let response = producing(vec![step("a", "Read", &[], json!({}))], None, text);
        response.outcomes[0].preview.clone()
    };
    let quoted = |inner: String| format!("\"{inner}\"");
    let fits = quoted("x".repeat(238));
    assert_eq!(preview(&fits), fits, "240 bytes are shown whole");
    let long = quoted("x".repeat(239));
    assert_eq!(preview(&long), format!("{}…", &long[..240]));
    // The text is one byte followed by two-byte characters, so byte 240 is inside a character.
    let umlauts = quoted("ä".repeat(200));
    assert_eq!(preview(&umlauts), format!("\"{}…", "ä".repeat(119)));
}
