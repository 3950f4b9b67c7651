//! Tests of tries that ended because of a limit of the machine, and not because of the step.

use serde_json::json;

use crate::decide::tests::support::{Sim, step};
use crate::decide::{self, StepResult};
use crate::event::Body;
use crate::model::error::{Code, Failure};
use crate::model::ids::Hash;
use crate::model::job::JobState;
use crate::model::mode::Mode;
use crate::state::Durable;
use crate::storage::InboxRequest;

/// I223. The step is repeated three times and then waits. Each time a person continues the job, the step is tried and
/// repeated three times again.
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

/// I206, I223. An earlier try made two calls. A limit of the machine then ends a later try after at most two calls. The
/// later try is repeated like any other aborted try. Recorded calls that the later try did not make are no divergence.
#[test]
fn try_that_ends_early_by_a_limit_of_the_machine_is_no_divergence() {
    let steps = || vec![step("a", "Script", &[], json!({ "calls": ["Read", "Read"] }))];
    let mut sim = Sim::new(Mode::AutoExec, steps());
    let complete = sim.process(None).unwrap();
    for code in [Code::WallClockLimit, Code::StackOverflow, Code::MachineFault] {
        for calls in [0, 1, 2] {
            let mut durable = complete.clone();
            let ended = |durable: &Durable| {
                let failure = Failure::new(code, "it was too slow");
                let draft = decide::step_ended(durable, &"a".into(), calls, StepResult::Fault(failure));
                draft.unwrap_or_else(|divergence| panic!("{code} after {calls} calls: {divergence:?}")).events
            };
            let events = ended(&durable);
            assert!(matches!(events[..], [Body::StepAborted { .. }]), "{code}: {events:?}");
            durable.job.steps[0].aborted_tries = 3;
            let last = ended(&durable);
            let waits = matches!(last[..], [Body::StepBlocked { .. }]);
            let fails = matches!(last[..], [Body::StepFailed { .. }]);
            assert_eq!((waits, fails), (code == Code::MachineFault, code != Code::MachineFault), "{last:?}");
        }
    }
    let output = StepResult::Output(b"1".to_vec());
    assert!(decide::step_ended(&complete, &"a".into(), 1, output).is_err(), "an output is compared with the whole log");
}

/// I224. Running out of fuel is a verdict about the step only in the engine profile of the job. In another profile it
/// is a divergence.
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
