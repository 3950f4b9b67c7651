//! Tests of the attempt number in the batches of a job.

use serde_json::json;

use crate::decide;
use crate::decide::tests::support::{Sim, step};
use crate::model::ids::Hash;
use crate::model::mode::Mode;
use crate::storage::Draft;

#[test]
fn only_a_claim_begins_an_attempt() {
    let sim = Sim::new(Mode::AutoExec, vec![step("a", "Read", &[], json!({}))]);
    let mut durable = sim.durable();
    let request: Draft = Draft { inbox_done: vec![1], ..Draft::default() };
    let refused = durable.seal(4, request.clone(), sim.now_us).expect_err("no event records the claim");
    assert_eq!(refused.to_string(), "event 2: attempt 4 has no claim event");
    let batch = durable.seal(4, decide::claimed("w", Hash::default()), sim.now_us).expect("it is the first attempt");
    assert_eq!((batch.attempt, batch.writes.events[0].attempt), (4, 4));
    assert_eq!(durable.seal(4, request.clone(), sim.now_us).expect("the attempt is claimed").attempt, 4);
    durable.seal(3, request, sim.now_us).expect_err("the attempt is superseded");
}
