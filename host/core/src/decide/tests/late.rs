//! Answers that were put away before anybody could write what they mean.

use serde_json::json;

use super::evidence::holds;
use super::sim::{Cut, Sim, good, step};
use crate::effect::{Answer, Effect, Provenance};
use crate::error::{Code, Failure};
use crate::event::Mode;
use crate::ids::Slot;
use crate::job::JobState;

fn put_away(slot: &str, try_no: u32, answer: Answer) -> Effect {
    Effect { slot: Slot::new(slot), try_no, answer, provenance: Provenance::Executed, time_us: 1_500, spent: None }
}

/// I105: a look whose answer was put away, and whose events were not written, is made again. One try has one
/// answer, and the log says what the effect says.
#[test]
fn a_look_that_is_made_again_has_the_answer_that_was_put_away() {
    let no = || Answer::NotApplied(Failure::new(Code::AuthForbidden, "401"));
    for (stored, made, ends) in
        [(no(), Answer::Ok(good()), JobState::Failed), (Answer::Ok(good()), no(), JobState::Completed)]
    {
        let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
        sim.effects.push(put_away("a", 1, stored.clone()));
        sim.script.insert("Read".into(), vec![made]);
        let durable = sim.process(None).expect("nobody kills it");
        let finished = durable.job.calls[&Slot::new("a")].finished.clone().expect("it was answered");
        assert_eq!((finished.ok, finished.try_no), (matches!(stored, Answer::Ok(_)), 1));
        assert_eq!(durable.job.state, ends);
        holds(&sim);
    }
}

/// I29: where commits are staged, the answer of a keyed try comes after the call was repeated. The other side
/// knows the key: that is no second execution.
#[test]
fn a_late_answer_of_a_try_that_was_repeated_under_its_key_is_no_double_execution() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Keyed", &[], json!({}))]);
    sim.process(Some(Cut::AfterExecute(0))).expect_err("it is killed");
    assert_eq!(sim.process(None).expect("nobody kills it").job.state, JobState::Completed);
    assert_eq!(sim.applied.len(), 1);
    sim.effects.retain(|effect| effect.try_no != 1);
    sim.effects.push(put_away("a", 1, Answer::Ok(good())));
    holds(&sim);
}
