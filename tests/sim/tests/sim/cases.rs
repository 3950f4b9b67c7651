//! Regression cases that the random simulation found.

use std::sync::atomic::Ordering;

use crate::dice::Dice;
use crate::faults::SimulatedFaults;
use crate::run;
use crate::simulation::Simulation;

/// I104: the commit that ends a job is applied, but its answer is lost. The worker then reads the job's state from the
/// store and finishes.
#[test]
fn job_ends_if_the_answer_of_its_last_commit_is_lost() {
    for end in ["job_completed", "job_partial", "job_parked"] {
        let mut seen = 0;
        for seed in 0..40 {
            let ran = run::run(|| {
                let scene = Simulation::new(Dice::new(seed), SimulatedFaults::without_faults());
                *scene.lose_answer_of.lock().expect("no holder panics") = Some(end);
                scene
            });
            assert_eq!(ran.violation, None, "seed {seed}, {end}");
            assert_eq!(ran.tally.count_of("left after the store failed"), 0, "seed {seed}, {end}");
            seen += ran.tally.count_of(&format!("event {end}"));
        }
        assert!(seen > 0, "no job ended with {end}");
    }
}

/// I44, I127: the write that records an answer is lost, and later writes of the same process are delayed. Meanwhile
/// another worker claims the job, marks the call as in doubt and parks the job. Then the answer reaches the effect
/// store, and the other worker is notified. No person is asked.
#[test]
fn late_answer_is_reported_to_the_lease_holder() {
    for staged in [false, true] {
        let mut reported = 0;
        for seed in 0..120 {
            let ran = run::run(|| {
                let scene = Simulation::new(
                    Dice::new(seed),
                    SimulatedFaults { workers: 2, staged, ..SimulatedFaults::without_faults() },
                );
                *scene.delay_writes_after.lock().expect("no holder panics") =
                    Some(("tool_invocation_finished", 30_000));
                scene.people_wait.store(true, Ordering::Relaxed);
                scene
            });
            assert_eq!(ran.violation, None, "seed {seed}, staged {staged}");
            reported += ran.tally.count_of("late answer reported");
        }
        assert!(reported >= 10, "staged {staged}: {reported} reported");
    }
}
