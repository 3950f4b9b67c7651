use serde_json::json;

use latchwork_core::event::{Body, Event};
use latchwork_core::model::error::Code;
use latchwork_core::model::ids::{Hash, JobId, Operator, Slot, StepId};

use crate::live::view::progress::JobProgressView;
use crate::text::Text;

fn event(seq: u64, time_us: i64, body: Body) -> Event {
    Event { seq, time_us, attempt: 1, body, prev_hash: Hash([0; 32]), hash: Hash([0; 32]), bytes: Vec::new() }
}

fn rendered(view: &JobProgressView, now_us: i64, rows: usize) -> String {
    Text::lines(view.activity_lines(now_us, rows)).plain()
}

fn view() -> JobProgressView {
    let mut view = JobProgressView::new(&JobId::new("job_1"), 0, None);
    let plan = json!({ "steps": [
        { "step_id": "b", "name": "Web.Search" }, { "step_id": "a", "name": "Mail.Send" },
    ] });
    view.apply(&event(1, 0, Body::PlanCreated { plan, plan_hash: Hash([0; 32]) }));
    view.event(&event(2, 0, Body::JobClaimed { worker: "w".into(), engine_profile: Hash([0; 32]) }), 0);
    view
}

/// I131: steps are shown in the order of the plan, and calls below their step. Each line names the current activity.
#[test]
fn activities_are_displayed_with_operators_and_times() {
    let mut view = view();
    let step = |id: &str| StepId::new(id);
    view.event(&event(3, 0, Body::StepStarted { step_id: step("b") }), 0);
    view.call(&Slot::new("b/0"), &Operator::new("Web.Fetch"), 500_000);
    let retry = Body::StepRetryScheduled {
        step_id: step("a"),
        slot: Slot::new("a"),
        code: Code::RateLimit,
        not_before_us: 6_000_000,
    };
    view.event(&event(4, 900_000, retry), 900_000);
    let text = "0 of 2 steps done, 2.0 s\n  b  Web.Search  running 2.0 s\n    b/0  Web.Fetch  called 1.5 s ago\n  \
                a  Mail.Send  RATE_LIMIT: next try in 4.0 s";
    assert_eq!(rendered(&view, 2_000_000, 20), text);
    assert_eq!(rendered(&view, 2_000_000, 3).lines().last(), Some("  and 2 more"));
    let ended = Body::StepSucceeded {
        step_id: step("b"),
        result_type: latchwork_core::model::result_type::ResultType::Success,
    };
    let lines = view.event(&event(5, 2_500_000, ended), 2_500_000);
    assert_eq!(lines[0].text.plain(), "  b  Web.Search  succeeded in 2.500 s");
    assert!(!rendered(&view, 2_500_000, 20).contains("b/0"));
}

/// I131: after a new claim, a step that the earlier attempt was running is not shown. An open gate is still shown.
#[test]
fn new_attempt_keeps_only_waiting_activities() {
    let mut view = view();
    view.event(&event(3, 0, Body::StepStarted { step_id: StepId::new("b") }), 0);
    let gate = Body::GateRequested {
        slot: Slot::new("a"),
        gate_hash: Hash([0; 32]),
        args: latchwork_core::model::payload::PayloadRef { hash: Hash([0; 32]), len: 0 },
        operator: Operator::new("Mail.Send"),
        quorum: 1,
        expires_us: None,
        approvals: Default::default(),
    };
    view.event(&event(4, 0, gate), 0);
    view.event(&event(5, 0, Body::JobClaimed { worker: "w".into(), engine_profile: Hash([0; 32]) }), 0);
    let text = rendered(&view, 0, 20);
    assert!(!text.contains("Web.Search") && text.contains("a  Mail.Send  needs approval"), "{text}");
}

/// I131: a gate and its expiry stay visible when the step that waits for the gate is blocked.
#[test]
fn gate_stays_visible_when_its_step_is_blocked() {
    let mut view = view();
    let (slot, step_id) = (Slot::new("a"), StepId::new("a"));
    let gate = Body::GateRequested {
        slot: slot.clone(),
        gate_hash: Hash([0; 32]),
        args: latchwork_core::model::payload::PayloadRef { hash: Hash([0; 32]), len: 0 },
        operator: Operator::new("Mail.Send"),
        quorum: 1,
        expires_us: Some(60_000_000),
        approvals: Default::default(),
    };
    view.event(&event(3, 0, gate), 0);
    let before = rendered(&view, 0, 20);
    let blocked = Body::StepBlocked { step_id, slot, reason: Code::RequiresApproval, holder: None };
    view.event(&event(4, 0, blocked), 0);
    assert!(before.contains("needs approval"), "{before}");
    assert_eq!(rendered(&view, 0, 20), before);
}

fn claimed(seq: u64, time_us: i64) -> Event {
    event(seq, time_us, Body::JobClaimed { worker: "w".into(), engine_profile: Hash([0; 32]) })
}

fn released(seq: u64, time_us: i64) -> Event {
    event(seq, time_us, Body::JobReleased { worker: "w".into() })
}

/// I131: the elapsed time continues over attempts of one command and restarts with the next command.
#[test]
fn elapsed_time_continues_over_attempts_of_one_command() {
    let mut followed = view();
    followed.event(&released(3, 4_000_000), 4_000_000);
    followed.event(&claimed(4, 5_000_000), 5_000_000);
    assert!(rendered(&followed, 6_000_000, 9).starts_with("0 of 2 steps done, 6.0 s"), "{}", rendered(&followed, 0, 9));

    let of_command = |own_us| {
        let mut view = JobProgressView::new(&JobId::new("job_1"), 9_000_000, Some(own_us));
        for event in [claimed(2, 1_000_000), released(3, 4_000_000), claimed(4, 5_000_000)] {
            view.apply_past(&event);
        }
        view.event(&claimed(5, 10_000_000), 10_000_000);
        rendered(&view, 11_000_000, 9)
    };
    assert!(of_command(500_000).starts_with("0 of 0 steps done, 10.0 s"), "{}", of_command(500_000));
    assert!(of_command(8_000_000).starts_with("0 of 0 steps done, 1.0 s"), "{}", of_command(8_000_000));
}

/// I131: a released job is shown as waiting for a worker until the next claim.
#[test]
fn unclaimed_job_shows_that_it_waits_for_a_worker() {
    let mut view = view();
    assert!(!rendered(&view, 0, 9).contains("worker"));
    view.event(&released(3, 1_000_000), 1_000_000);
    assert_eq!(rendered(&view, 3_500_000, 9), "0 of 2 steps done\n  waits for a worker 2.5 s");
    view.event(&claimed(4, 4_000_000), 4_000_000);
    assert!(!rendered(&view, 4_000_000, 9).contains("worker"));
}
