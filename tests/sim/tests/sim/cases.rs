//! What the simulation found once, each by itself.

use crate::dice::Dice;
use crate::run;
use crate::scene::Scene;
use crate::weather::Weather;

/// I104: a commit that says that the job has come to rest happens, and nobody hears of it. The worker reads
/// that it is so, and is done.
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
