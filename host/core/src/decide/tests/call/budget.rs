//! Tests of model costs and budgets: the cost of an answer, and the refusal of calls beyond the budget.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::decide::tests::support::{CrashPoint, Sim, good, step};
use crate::decide::{ReservedCosts, reserved_cost};
use crate::event::{Body, BudgetPeriod};
use crate::model::bounds;
use crate::model::budget::Budget;
use crate::model::effect::{Answer, Output, Usage};
use crate::model::error::Code;
use crate::model::ids::{Operator, Slot};
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::response::response;
use crate::rules::ledger::RowState;

fn paid(cost_micro_usd: u32) -> Answer {
    let usage = Usage {
        model: Some("small".into()),
        provider_trace_id: Some("req_7".into()),
        tokens_in: 10,
        tokens_out: 1,
        cost_micro_usd,
        credits: 0,
    };
    Answer::Ok(Output { usage: Some(usage), ..good() })
}

/// Returns a job with three consecutive steps `a`, `b` and `c`. Each step calls the operator once, at a cost of 40
/// micro-USD.
fn three(operator: &str, budget: Budget) -> Sim {
    let plan = ["a", "b", "c"].iter().zip([&[][..], &["a"], &["b"]]);
    let mut sim = Sim::new(Mode::AutoExec, plan.map(|(id, after)| step(id, operator, after, json!({}))).collect());
    sim.script.insert(Operator::new(operator), vec![paid(40), paid(40), paid(40)]);
    sim.rules.budget = budget;
    sim
}

fn per_job(amount: u64) -> Budget {
    Budget { per_job_micro_usd: Some(amount), per_month_micro_usd: None }
}

fn exceeded(sim: &Sim) -> Option<Value> {
    let body =
        sim.record.events.iter().map(|event| &event.body).find(|body| matches!(body, Body::BudgetExceeded { .. }));
    body.map(|body| serde_json::to_value(body).unwrap())
}

/// Returns the number of calls that were answered.
fn answered(sim: &Sim) -> usize {
    3 - sim.script.values().map(Vec::len).sum::<usize>()
}

/// I34: a call is refused once the budget is used up.
#[test]
fn call_is_refused_once_budget_is_spent() {
    for (budget, calls) in [(0, 0), (39, 1), (40, 1), (41, 2), (80, 2), (81, 3), (1_000, 3)] {
        let mut sim = three("Model", per_job(budget));
        let durable = sim.process(None).unwrap();
        assert_eq!(answered(&sim), calls, "{budget}");
        assert_eq!(durable.job.cost.cost_micro_usd, 40 * calls as u64);
        assert_eq!(exceeded(&sim).is_some(), calls < 3, "{budget}");
        if let Some(failed) = response(&durable).failed.first() {
            assert_eq!(failed.reason_code, Code::BudgetExceeded, "{}", failed.message);
            let slot = Slot::new(failed.step_id.as_str());
            assert_eq!(durable.rows[&slot].state, RowState::FailedFinal);
            assert!(durable.job.calls[&slot].committed, "it is the recorded answer");
        }
    }
}

/// I34: if the maximum cost of a call is known, the budget is never exceeded.
#[test]
fn call_that_could_exceed_budget_is_refused() {
    for (budget, calls) in [(44, 0), (45, 1), (84, 1), (85, 2), (125, 3)] {
        let mut sim = three("Model", per_job(budget));
        sim.max_cost = Some(45);
        sim.process(None).unwrap();
        assert_eq!(answered(&sim), calls, "{budget}");
        if calls == 1 {
            let event = exceeded(&sim).unwrap();
            assert_eq!((&event["spent_micro_usd"], &event["most_micro_usd"]), (&json!(40), &json!(45)));
        }
    }
}

/// I33, I34: an answer without usage is charged the maximum cost of the call.
#[test]
fn answer_without_usage_is_charged_maximum_cost() {
    let silent = [Answer::Ok(Output { usage: Some(Usage::default()), ..good() }), Answer::Ok(good())];
    for (answer, most, spent) in silent.iter().flat_map(|answer| [(answer, Some(45), 90), (answer, None, 0)]) {
        let mut sim = three("Model", per_job(100));
        sim.max_cost = most;
        sim.script.insert(Operator::new("Model"), vec![answer.clone(); 3]);
        let durable = sim.process(None).unwrap();
        assert_eq!(durable.job.cost.cost_micro_usd, spent, "{answer:?}");
        assert_eq!(exceeded(&sim).is_some(), most.is_some(), "the third could pass the budget");
    }
    // An answer that reports its usage is charged that amount.
    let mut sim = three("Model", per_job(1_000));
    sim.max_cost = Some(45);
    assert_eq!(sim.process(None).unwrap().job.cost.cost_micro_usd, 120);
}

/// I34: the monthly budget belongs to the tenant and includes the spending of all its jobs.
#[test]
fn monthly_budget_includes_other_jobs() {
    for (elsewhere, calls) in [(0, 3), (900, 3), (940, 2), (999, 1), (1_000, 0)] {
        let mut sim = three("Model", Budget { per_job_micro_usd: None, per_month_micro_usd: Some(1_000) });
        sim.spent_elsewhere = elsewhere;
        let durable = sim.process(None).unwrap();
        assert_eq!(answered(&sim), calls, "{elsewhere}");
        if calls == 0 {
            assert_eq!(exceeded(&sim).unwrap()["period"], json!(BudgetPeriod::Month));
            assert_eq!(durable.job.state, JobState::Failed);
        }
    }
}

/// I34: a raised budget does not undo a refusal that was recorded before a crash. The process is killed before each
/// write in turn.
#[test]
fn a_raised_budget_does_not_undo_a_refusal() {
    let mut whole = three("Model", per_job(40));
    whole.process(None).unwrap();
    let mut refused = 0;
    for write in 0.. {
        let mut sim = three("Model", per_job(40));
        if sim.process(Some(CrashPoint::Write(write))).is_ok() {
            break;
        }
        let before = exceeded(&sim);
        sim.rules.budget = per_job(1_000);
        let durable = sim.process(None).unwrap();
        let slot = Slot::new("b");
        let failed = durable.job.calls[&slot].finished.as_ref().unwrap().code;
        assert_eq!(failed, before.as_ref().map(|_| Code::BudgetExceeded), "cut before write {write}");
        assert_eq!(exceeded(&sim).is_some(), before.is_some());
        refused += usize::from(before.is_some());
    }
    assert!(refused > 0, "some cut comes after the refusal");
}

#[test]
fn free_call_is_not_refused() {
    let mut sim =
        Sim::new(Mode::AutoExec, vec![step("a", "Model", &[], json!({})), step("b", "Read", &["a"], json!({}))]);
    sim.script.insert(Operator::new("Model"), vec![paid(40)]);
    sim.rules.budget = per_job(40);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
    // A tool that is not a model is refused if an earlier answer of the tool cost money.
    let mut sim = three("Read", per_job(40));
    sim.process(None).unwrap();
    assert_eq!(answered(&sim), 1);
}

/// I32: the answer of a model is marked as nondeterministic and carries the provider's trace ID.
#[test]
fn a_models_answer_is_marked() {
    let mut sim = three("Model", Budget::default());
    let durable = sim.process(None).unwrap();
    let response = response(&durable);
    let step = &response.steps[0];
    assert!(step.nondeterministic);
    assert_eq!(step.notes, ["a: nondeterministic: answered by small, its trace req_7"]);
    assert_eq!((response.cost.calls, response.cost.nondeterministic), (3, 3));
    assert_eq!((response.cost.tokens_in, response.cost.cost_micro_usd), (30, 120));
    assert_eq!((response.cost.fuel, response.cost.wall_ms), (15, 6));
    let mut sim = Sim::new(Mode::AutoExec, vec![step_of_read()]);
    let durable = sim.process(None).unwrap();
    let response = crate::response::response(&durable);
    assert!(!response.steps[0].nondeterministic && response.steps[0].notes.is_empty());
    assert_eq!(
        (response.cost.calls, response.cost.fuel),
        (0, 5),
        "a call without usage costs nothing, but its fuel counts"
    );
}

/// I32: the prompt of a model is recorded with its answer, even if a step plugin calls the model. For a read,
/// only the hash of the arguments is recorded.
#[test]
fn model_prompt_is_recorded() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("s", "Script", &[], json!({ "calls": ["Read", "Model"] }))]);
    let durable = sim.process(None).unwrap();
    let asked = |k: u32| durable.args(&Slot::of_call(&"s".into(), k)).map(|args| args.to_vec());
    assert_eq!((asked(0), asked(1)), (None, Some(br#"{"k":1}"#.to_vec())));
    assert_eq!(sim.durable().args(&Slot::new("s/1")), durable.args(&Slot::new("s/1")), "the log names it");
}

fn step_of_read() -> Value {
    step("a", "Read", &[], json!({}))
}

#[test]
fn reserved_costs_count_until_answers_are_recorded() {
    let mut sim = three("Model", Budget::default());
    let durable = sim.process(None).unwrap();
    let (own, answered, open) = (Slot::new("x"), Slot::new("a"), Slot::new("y"));
    let in_flight = ReservedCosts::from([(own.clone(), (1, 5)), (answered.clone(), (1, 7)), (open, (1, 11))]);
    assert_eq!(reserved_cost(&durable, &in_flight, &own), 11);
    let in_flight = ReservedCosts::from([(answered, (2, 7))]);
    assert_eq!(reserved_cost(&durable, &in_flight, &own), 7, "another try is in flight");
}

/// I32: if a crash left the answer of a model without its events, the stored answer is used and the model is
/// not called again.
#[test]
fn stored_model_answer_is_used() {
    let mut sim = three("Model", Budget::default());
    sim.effects.push(crate::model::effect::Effect {
        slot: Slot::new("a"),
        try_no: 1,
        answer: paid(70),
        provenance: crate::model::effect::Provenance::Executed,
        time_us: 1_500,
        spent: None,
    });
    let durable = sim.process(None).unwrap();
    assert_eq!((durable.job.state, answered(&sim)), (JobState::Completed, 2));
    assert_eq!(durable.job.cost.cost_micro_usd, 150);
    let provenance = durable.job.calls[&Slot::new("a")].finished.as_ref().unwrap().provenance;
    assert_eq!(provenance, crate::model::effect::Provenance::CaughtUp);
}

/// I32, I34: the answer of a model and a refusal for cost are flushed immediately. The answer of a read
/// lingers.
#[test]
fn costly_answers_are_flushed_immediately() {
    for (operator, budget, flushed) in [
        ("Model", Budget::default(), [true, true, true].as_slice()),
        ("Read", Budget::default(), &[false, false, false]),
        ("Read", per_job(40), &[false, true]),
    ] {
        let mut sim = three(operator, budget);
        sim.process(None).unwrap();
        assert_eq!(sim.answers_flushed, flushed, "{operator}");
    }
    // The answer of an opaque call is flushed, because without the answer only a person could resolve the call after
    // a crash. Keyed and queryable calls need no person, so their answers linger.
    for (operator, flushed) in [("Opaque", true), ("Keyed", false), ("Queryable", false)] {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", operator, &[], json!({}))]);
        sim.process(None).unwrap();
        assert_eq!(sim.answers_flushed, [flushed], "{operator}");
    }
}

/// I222: bound `models`. The tool names another model in each answer. The job has at most this number of rows of costs
/// for single models, and one row for all other models.
#[test]
fn models_of_a_job_are_counted_separately_up_to_their_limit() {
    let count = bounds::MODELS + 2;
    let steps: Vec<Value> = (0..count).map(|at| step(&format!("s{at}"), "Model", &[], json!({ "at": at }))).collect();
    let mut sim = Sim::new(Mode::AutoExec, steps);
    let named = |at: usize| {
        let Answer::Ok(output) = paid(1) else { unreachable!("it is an answer") };
        let usage = output.usage.map(|usage| Usage { model: Some(format!("m{at}")), ..usage });
        Answer::Ok(Output { usage, ..output })
    };
    sim.script.insert(Operator::new("Model"), (0..count).map(named).collect());
    let durable = sim.process(None).unwrap();
    let finished = durable.job.calls.values().filter_map(|call| call.finished.as_ref());
    let models: Vec<&str> = finished.filter_map(|finished| finished.usage.as_ref()?.model.as_deref()).collect();
    assert_eq!(models.len(), count);
    assert_eq!(models.iter().collect::<BTreeSet<_>>().len(), bounds::MODELS + 1);
    assert_eq!(models.iter().filter(|model| **model == "other").count(), 2);
    assert_eq!(durable.job.cost.cost_micro_usd, count as u64);
}
