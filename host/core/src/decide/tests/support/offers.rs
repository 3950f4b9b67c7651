//! Checks the commands that a response offers.

use crate::decide;
use crate::model::ids::Slot;
use crate::response::Response;
use crate::state::Durable;
use crate::storage::ManualVerdict;

/// Checks each offered command with the function that decides about that command.
pub(crate) fn assert_offers_accepted(of: &str, durable: &Durable, response: &Response, now_us: i64) {
    let job = &durable.job;
    let response = response.clone().with_pending(durable, &[], now_us);
    for command in &response.next_actions {
        let words: Vec<&str> = command.split(' ').collect();
        let slot = |at: usize| Slot::new(words[at]);
        let says = |option: &str| words.contains(&option);
        let taken = match words[..] {
            ["latch", "resume", ..] => !job.state.is_terminal(),
            ["latch", "job", "show", ..] => true,
            ["latch", "job", "approve" | "reject", _, ..] => job.open_gate(&slot(4)).is_some(),
            ["latch", "job", "signal", _, key, ..] => job.waits.values().any(|wait| wait.key.as_deref() == Some(key)),
            ["latch", "job", "confirm", _, ..] => decide::is_confirmable(job, &slot(4), says("--gone")),
            ["latch", "job", "resolve", _, "--continue" | "--abort"] => decide::is_parked_or_diverged(job),
            ["latch", "job", "resolve", _, ..] => {
                let verdict = match () {
                    () if says("--applied") => ManualVerdict::Applied("1".into()),
                    () if says("--not-applied") => ManualVerdict::NotApplied,
                    () => ManualVerdict::Abort,
                };
                decide::verdict_request(durable, &slot(4), verdict, now_us).is_ok()
            }
            ["latch", "job", "undo", _] => decide::calls_to_undo(durable).is_ok(),
            ["latch", "job", "retry", _] => decide::retry_round(durable).is_ok(),
            ["latch", "job", "fork", ..] => true,
            _ => panic!("{of}: an unknown command is offered: {command}"),
        };
        assert!(taken, "{of}: {command} is offered and refused: {response:#?}");
    }
}
