//! Regression cases that the random simulation found.

use std::sync::atomic::Ordering;

use crate::dice::Dice;
use crate::run;
use crate::scene::Scene;
use crate::weather::Weather;

/// I104: the commit that ends the job is applied, but its answer is lost. The worker reads the job's state
/// from the store and finishes.
#[test]
fn an_end_whose_answer_was_lost_is_an_end() {
    for end in ["job_completed", "job_partial", "job_parked"] {
        let mut seen = 0;
        for seed in 0..40 {
            let ran = run::run(|| {
                let scene = Scene::new(Dice::new(seed), Weather::calm());
                *scene.lose.lock().expect("no holder panics") = Some(end);
                scene
            });
            assert_eq!(ran.wrong, None, "seed {seed}, {end}");
            assert_eq!(ran.tally.of("left after the store failed"), 0, "seed {seed}, {end}");
            seen += ran.tally.of(&format!("event {end}"));
        }
        assert!(seen > 0, "no job ended with {end}");
    }
}

/// I44, I127: a write is refused for a while, and its answer reaches the effect store late. By then another
/// worker holds the job and has parked the call in doubt. That worker is notified, and no person is asked.
#[test]
fn an_answer_that_was_long_on_its_way_is_told() {
    for staged in [false, true] {
        let mut told = 0;
        for seed in 0..120 {
            let ran = run::run(|| {
                let scene = Scene::new(Dice::new(seed), Weather { workers: 2, staged, ..Weather::calm() });
                *scene.hamper.lock().expect("no holder panics") = Some(("tool_invocation_finished", 30_000));
                scene.patient.store(true, Ordering::Relaxed);
                scene
            });
            assert_eq!(ran.wrong, None, "seed {seed}, staged {staged}");
            told += ran.tally.of("late answer reported");
        }
        assert!(told >= 10, "staged {staged}: {told} reported");
    }
}
