//! Tests of tries that the machine ended, and not the step.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::decide::{self, StepResult};
use crate::model::error::{Code, Failure};
use crate::model::ids::Hash;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::storage::InboxRequest;

/// I223. The step is repeated three times. Then it waits, and each continuation repeats it three times again.
#[test]
fn lack_of_resources_parks_a_step_and_never_fails_it() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Script", &[], json!({ "calls": [] }))]);
    sim.machine_faults = 9;
    let durable = sim.process(None).unwrap();
    assert_eq!(durable.job.state, JobState::Parked);
    assert_eq!(durable.job.parked.as_ref().map(|(code, _)| *code), Some(Code::MachineFault));
    assert_eq!(sim.machine_faults, 5, "the first try and three repetitions");
    let offers = crate::response::response(&durable).next_actions;
    assert!(offers.contains(&"latch job resolve job_1 --continue".to_owned()), "{offers:?}");
    sim.send_request(InboxRequest::Continue);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Parked);
    assert_eq!(sim.machine_faults, 1, "a try and three repetitions again");
    sim.send_request(InboxRequest::Continue);
    assert_eq!(sim.process(None).unwrap().job.state, JobState::Completed);
}

/// I224. Fuel is a verdict in the engine profile of the job alone.
#[test]
fn fuel_is_a_verdict_in_the_profile_of_the_job_alone() {
    let mut sim = Sim::new(Mode::AutoExec, vec![step("a", "Script", &[], json!({ "calls": [] }))]);
    let durable = sim.process(None).unwrap();
    let same = durable.job.header.engine_profile;
    let other = Hash::of(&[b"another engine"]);
    let fault = |code| StepResult::Fault(Failure::new(code, "it ended"));
    let diverged = |result: &StepResult, profile| decide::divergence_of_profile(&durable, &"a".into(), result, profile);
    assert!(diverged(&fault(Code::OutOfFuel), same).is_none());
    assert!(diverged(&fault(Code::PluginTrap), other).is_none());
    let found = diverged(&fault(Code::OutOfFuel), other).expect("another profile");
    assert_eq!((found.step().as_str(), found.recorded), ("a", same.to_string()));
}
