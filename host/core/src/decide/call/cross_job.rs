//! Expected rows of one job in the tables shared by all jobs: reservations of action keys, and reusable
//! results. `latch doctor --deep` compares them with the stored rows.

use crate::decide::call::action;
use crate::decide::is_dry;
use crate::decide::job::reuse as reusing;
use crate::model::effect::Answer;
use crate::model::ids::{Hash, JobId, Operator, Slot, StepId};
use crate::model::result_type::ResultType;
use crate::model::step::StepState;
use crate::rules::ledger::RowState;
use crate::rules::reuse;
use crate::rules::reuse::ReusableResult;
use crate::state::{Durable, Step};
use crate::storage::ActionRow;

/// Reservation that a committed call must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedReservation {
    /// Slot of the call.
    pub slot: Slot,
    /// Operator of the call. The operator is part of the key's identity.
    pub operator: Operator,
    /// Action key of the call.
    pub key: Hash,
    job_id: JobId,
    args_hash: Hash,
    receipt: Vec<u8>,
}

impl ExpectedReservation {
    /// Returns the difference between this expected reservation and the stored reservation `found`. Returns
    /// `None` if they match.
    pub fn difference(&self, found: Option<&ActionRow>) -> Option<String> {
        let Some(row) = found else { return Some("its action key is not reserved".to_owned()) };
        if (&row.job_id, &row.slot) != (&self.job_id, &self.slot) {
            return Some(format!("its action key is reserved for job {}, slot {}", row.job_id, row.slot));
        }
        if row.args_hash != self.args_hash {
            let (expected, found) = (self.args_hash.to_hex(), row.args_hash.to_hex());
            return Some(format!(
                "the arguments hash of its action key differs from the call (expected {expected}, found {found})"
            ));
        }
        match &row.receipt {
            Some(receipt) if action::is_same_receipt(receipt, &self.receipt) => None,
            Some(_) => Some("the receipt of its action key differs from the recorded answer".to_owned()),
            None => Some("its action key has no receipt".to_owned()),
        }
    }
}

/// Returns the reservations of calls that took effect. Calls with a compensation and calls with a disputed effect are
/// left out.
pub fn expected_reservations(durable: &Durable) -> Vec<ExpectedReservation> {
    let job = &durable.job;
    let of = |row: &crate::rules::ledger::LedgerRow| {
        let slot = &row.slot;
        let is_disputed = job.blocking_mismatches().any(|disputed| disputed == slot) || job.is_effect_gone(slot);
        let is_undone = job.compensations.contains_key(&slot.compensation());
        let took_effect = job.calls.get(slot).is_some_and(|call| job.took_effect(call));
        if row.state != RowState::Committed || is_disputed || is_undone || !took_effect {
            return None;
        }
        let (key, args) = (row.action_key?, durable.args(slot)?);
        let answer = durable.answer(slot)?;
        let Answer::Ok(output) = &answer.answer else { return None };
        let (args_hash, receipt) = (action::args_hash(&args), action::receipt(output));
        let (slot, operator, job_id) = (slot.clone(), row.operator.clone(), job.header.job_id.clone());
        Some(ExpectedReservation { slot, operator, key, job_id, args_hash, receipt })
    };
    durable.rows.values().filter_map(of).collect()
}

/// Returns the calls whose ledger row and events have different action keys. An entry has the slot, the key of
/// the events and the key of the row.
pub fn mismatched_action_keys(durable: &Durable) -> Vec<(Slot, Option<Hash>, Option<Hash>)> {
    let of = |(slot, row): (&Slot, &crate::rules::ledger::LedgerRow)| {
        let call = durable.job.calls.get(slot).filter(|call| call.first_attempt > 0)?;
        (call.action_key != row.action_key).then(|| (slot.clone(), call.action_key, row.action_key))
    };
    durable.rows.iter().filter_map(of).collect()
}

/// Expected row of a step's result in the index of reusable results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedReusable {
    /// Step that produced the result.
    pub step: StepId,
    /// Operator of the step.
    pub operator: Operator,
    /// Hash of the inputs of the result.
    pub input_hash: Hash,
    digest: Hash,
    version: String,
    result_type: ResultType,
    output_hash: Hash,
}

impl ExpectedReusable {
    /// Returns the first difference between this expected row and the stored row `found`. Returns `None` if the
    /// rows agree, or if `found` belongs to another job or step.
    pub fn difference(&self, job_id: &JobId, found: &ReusableResult) -> Option<String> {
        if (&found.job_id, &found.step_id) != (job_id, &self.step) {
            return None;
        }
        let same = [
            ("output hash", found.output_hash == self.output_hash),
            ("component digest", found.digest == self.digest),
            ("version", found.version == self.version),
            ("result type", found.result_type == self.result_type),
        ];
        let (name, _) = same.into_iter().find(|(_, same)| !same)?;
        Some(format!("the {name} in the index of reusable results differs from the recorded one"))
    }
}

/// Returns the rows that the index of reusable results is expected to hold for steps of this job. Leaves out steps
/// whose result was copied or reused.
pub fn expected_reusables(durable: &Durable) -> Vec<ExpectedReusable> {
    let job = &durable.job;
    let of = |step: &Step| {
        let planned = job.plan.step(&step.id)?;
        let operator = job.pinned(&planned.name).filter(|operator| reuse::is_candidate(planned, operator))?;
        let is_own = step.copied.is_none() && !step.reuse.as_ref().is_some_and(|(reused, _)| *reused);
        let result_type = step.result_type.filter(|kind| matches!(kind, ResultType::Pure | ResultType::Success))?;
        if step.state != StepState::Succeeded || !is_own || is_dry(job.header.mode) {
            return None;
        }
        let output_hash = Hash::of(&[&*durable.output(&step.id)?]);
        Some(ExpectedReusable {
            step: step.id.clone(),
            operator: planned.name.clone(),
            input_hash: reusing::input_hash(durable, planned)?,
            digest: operator.digest,
            version: operator.version.clone(),
            result_type,
            output_hash,
        })
    };
    job.steps.iter().filter_map(of).collect()
}
