//! Exports and verifies the evidence of a simulated job.

use crate::decide::tests::support::Sim;
use crate::evidence;
use crate::evidence::{Export, VerifyReport, Withhold};
use crate::model::person::PublicKey;

pub(crate) fn record(sim: &Sim) -> crate::storage::StoredJob {
    let job = sim.durable().job;
    let mut record = sim.record.clone();
    (record.row.state, record.row.attempt) = (job.state, job.attempt);
    (record.row.next_seq, record.row.head) = (job.next_seq, job.head);
    record
}

pub(crate) fn export_with(sim: &Sim, withhold: &Withhold, signer: Option<PublicKey>) -> Vec<u8> {
    let record = record(sim);
    let effects = &sim.effects;
    let export = Export { record: &record, effects, withhold, program: "latchwork test", exported_us: 9_000, signer };
    evidence::write(&export).expect("the job can be exported")
}

pub(crate) fn export(sim: &Sim) -> Vec<u8> {
    export_with(sim, &Withhold::Nothing, None)
}

pub(crate) fn verify(file: &[u8]) -> VerifyReport {
    evidence::verify(file, None, &|_, _, _| true).expect("it is evidence").report
}

/// Exports the evidence of the job in its present state and checks that it is intact.
pub(crate) fn assert_verifies(sim: &Sim) -> VerifyReport {
    let report = verify(&export(sim));
    assert!(report.intact, "{:#?}", report.problems);
    report
}
