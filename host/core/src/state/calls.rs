//! Applies the events of a call to the job state: tries, answers and the final answer.

use std::collections::BTreeMap;

use super::{Call, Job, RecordedAnswer};
use crate::event::{Body, Event, Verdict};
use crate::model::ids::Operator;
use crate::model::payload::PayloadRef;
use crate::state::error::{FoldError, invalid_event};

impl Job {
    pub(super) fn apply_call(&mut self, event: &Event) -> Result<(), FoldError> {
        match &event.body {
            Body::ToolInvocationStarted { slot, operator, try_no, args, first_attempt, action_key, .. } => {
                self.step_mut(event, &slot.step())?;
                self.check_call_allowed(event, slot, operator)?;
                let described = Call { action_key: *action_key, ..Call::new(operator, *args, *first_attempt) };
                let call = self.calls.entry(slot.clone()).or_insert_with(|| described.clone());
                call.start_try(event, *try_no, &described)?;
            }
            Body::ActionReused { slot, action_key, operator, args, job_id, from_slot } => {
                self.step_mut(event, &slot.step())?;
                let known = self.calls.contains_key(slot);
                let call = self.calls.entry(slot.clone()).or_insert_with(|| Call::new(operator, *args, 0));
                if call.committed || call.open_try.is_some() {
                    return Err(invalid_event(event, "a receipt may replace only a call that is not in flight"));
                }
                call.action_key = Some(*action_key);
                call.receipt_of = Some((job_id.clone(), from_slot.clone()));
                call.assign_try_number(if known { call.tries + 1 } else { 0 });
            }
            Body::ToolInvocationFinished {
                slot,
                try_no,
                ok,
                answer,
                code,
                provenance,
                usage,
                assumed_micro_usd,
                nondeterministic,
                refused,
                ..
            } => {
                self.step_mut(event, &slot.step())?;
                if let Some(refused) = refused {
                    self.check_call_allowed(event, slot, &refused.operator)?;
                    let action_key = refused.action_key;
                    let refusal = Call { action_key, ..Call::new(&refused.operator, refused.args, 0) };
                    self.calls.entry(slot.clone()).or_insert(refusal).assign_try_number(*try_no);
                }
                let call = self.call_mut(event, slot)?;
                if call.open_try != Some(*try_no) || call.committed {
                    return Err(invalid_event(event, "an answer must belong to the open try"));
                }
                call.open_try = None;
                call.finished = Some(RecordedAnswer {
                    try_no: *try_no,
                    ok: *ok,
                    answer: *answer,
                    code: *code,
                    time_us: event.time_us,
                    provenance: *provenance,
                    usage: usage.clone(),
                    assumed_micro_usd: *assumed_micro_usd,
                    nondeterministic: *nondeterministic,
                });
            }
            Body::CommandCommitted { slot } => self.call_mut(event, slot)?.commit(event)?,
            Body::InvocationResolved { slot, try_no, verdict, .. } => {
                self.call_mut(event, slot)?.resolve(event, *try_no, *verdict)?;
            }
            Body::BudgetExceeded { slot, .. } => {
                self.step_mut(event, &slot.step())?;
            }
            Body::ResolutionConflict { slot, .. } => {
                let call = self.call_mut(event, slot)?;
                (call.conflict, call.conflict_accepted) = (true, false);
            }
            _ => unreachable!("only events of calls come here"),
        }
        Ok(())
    }
}

impl Call {
    fn new(operator: &Operator, args: PayloadRef, first_attempt: u32) -> Self {
        Self {
            operator: operator.clone(),
            args,
            first_attempt,
            tries: 0,
            open_try: None,
            finished: None,
            committed: false,
            committed_seq: 0,
            retry_at_us: None,
            verdict: None,
            verdicts: BTreeMap::new(),
            conflict: false,
            conflict_accepted: false,
            action_key: None,
            receipt_of: None,
            tries_before_round: 0,
            reopened: false,
            not_yet_answers: 0,
        }
    }

    /// Opens try `try_no`. `described` has the operator, arguments and key that the event states.
    fn start_try(&mut self, event: &Event, try_no: u32, described: &Call) -> Result<(), FoldError> {
        if self.first_attempt == 0 {
            // No attempt has started the call yet: before the job was reopened, the host refused the call or answered
            // it with a receipt.
            self.first_attempt = described.first_attempt;
        }
        if self.committed || self.open_try.is_some() || self.tries + 1 != try_no {
            return Err(invalid_event(
                event,
                "a try may start only after the previous try has ended and before the final answer",
            ));
        }
        let first = (&self.operator, self.args, self.first_attempt);
        if first != (&described.operator, described.args, described.first_attempt) {
            return Err(invalid_event(event, "operator, arguments and key of a try must equal those of the first try"));
        }
        self.tries = try_no;
        self.open_try = Some(try_no);
        self.not_yet_answers = 0;
        self.retry_at_us = None;
        self.reopened = false;
        Ok(())
    }

    /// Makes the recorded answer final.
    fn commit(&mut self, event: &Event) -> Result<(), FoldError> {
        if self.committed || self.open_try.is_some() || self.finished.is_none() {
            return Err(invalid_event(
                event,
                "a call has only one final answer, and the answer must be recorded before",
            ));
        }
        self.committed = true;
        self.committed_seq = event.seq;
        Ok(())
    }

    /// Records the verdict on the open try. The verdicts `NotApplied` and `Repeat` close the try.
    fn resolve(&mut self, event: &Event, try_no: u32, verdict: Verdict) -> Result<(), FoldError> {
        if self.open_try != Some(try_no) {
            return Err(invalid_event(event, "a resolution must belong to the open try"));
        }
        self.verdict = Some((try_no, verdict));
        self.verdicts.insert(try_no, verdict);
        if matches!(verdict, Verdict::NotApplied | Verdict::Repeat) {
            self.open_try = None;
        }
        Ok(())
    }

    /// Opens try `try_no` for an answer that no tool gives, such as a refusal or a receipt.
    fn assign_try_number(&mut self, try_no: u32) {
        self.open_try = Some(try_no);
        self.tries = self.tries.max(try_no);
        self.reopened = false;
    }
}
