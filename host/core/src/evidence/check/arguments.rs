//! Checks the arguments of each compensating call. The arguments must contain the call to undo and its answer.

use crate::decide;
use crate::encoding::canon;
use crate::event::Body;
use crate::evidence::read::Evidence;
use crate::evidence::report::{ProblemKind, VerifyReport};
use crate::state::Durable;

pub(super) fn check(evidence: &Evidence, durable: &Durable, report: &mut VerifyReport) {
    for (at, event) in &evidence.events {
        let Body::CompensationStarted { slot, .. } = &event.body else { continue };
        let Some(of) = slot.compensated() else { continue };
        // Withheld payloads cannot be compared. The module `contents` checks their hashes.
        let known = durable.args(&of).and(durable.answer(&of)).and_then(|_| decide::undo_arguments(durable, &of));
        let (Some(expected), Some(found)) = (known, durable.args(slot)) else { continue };
        let expected = canon::value_to_canonical(&expected);
        if *found != *expected {
            let message = format!("the arguments of {slot} do not match {of}, the call that it undoes");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            report.add_problem(*at, ProblemKind::Payload, message, text(&expected), text(&found));
        }
    }
}
