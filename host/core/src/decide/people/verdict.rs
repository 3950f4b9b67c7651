//! A person's verdict on a call in doubt.
//!
//! A verdict refers to the try that was in doubt when the verdict was given. If another try is open when the job
//! reads the request, the verdict does not apply.

use std::fmt;

use crate::decide::call::resolution;
use crate::decide::call::tries::mark_caught_up;
use crate::decide::common::{recorded_invocation, single_event, unblock};
use crate::decide::undo::compensation;
use crate::decide::{Context, Try, answered};
use crate::event::{Body, DecidedBy, Verdict};
use crate::model::effect::{Answer, Effect, Output, Provenance};
use crate::model::ids::Slot;
use crate::rules::ledger::{LedgerRow, RowState};
use crate::state::{Call, Durable};
use crate::storage::{Draft, InboxRequest, ManualVerdict};

/// Reason why no verdict on the call is accepted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictRefusal {
    /// The job has no call at this slot.
    NoCall,
    /// The call may still be executing. Automatic resolution comes first.
    Executing,
    /// The call is not in doubt.
    Decided(RowState),
    /// The settling time has not passed. The effect of the call could still appear after a check found nothing.
    Settling {
        /// Milliseconds until the settling time has passed.
        wait_ms: u32,
    },
}

impl fmt::Display for VerdictRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCall => f.write_str("the job has no call at this slot"),
            Self::Executing => f.write_str("the call may still be executing"),
            Self::Decided(state) => write!(f, "the call is {state:?} and not in doubt"),
            Self::Settling { wait_ms } => write!(f, "the effect of the call may take another {wait_ms} ms to show"),
        }
    }
}

/// Returns the request for this verdict on this call, at `now_us` (microseconds since 1970 UTC). The request names the
/// try in doubt. If the call is a failed compensation, the request names the next try of the compensation.
pub fn verdict_request(
    durable: &Durable,
    slot: &Slot,
    verdict: ManualVerdict,
    now_us: i64,
) -> Result<InboxRequest, VerdictRefusal> {
    let request = |try_no: u32| InboxRequest::Resolve { slot: slot.clone(), try_no, verdict: verdict.clone() };
    let row = durable.rows.get(slot);
    let waits =
        row.and_then(|row| settling_wait_ms(durable, row, now_us)).map(|wait_ms| VerdictRefusal::Settling { wait_ms });
    if let Some(try_no) = compensation::next_try_of_failed(durable, slot) {
        // The verdict `abort` leaves the effect in place. An effect that appears later does not contradict this
        // verdict, so the settling time need not pass first.
        let waits = waits.filter(|_| !matches!(verdict, ManualVerdict::Abort));
        return waits.map_or_else(|| Ok(request(try_no)), Err);
    }
    let row = row.ok_or(VerdictRefusal::NoCall)?;
    let open = match row.state {
        RowState::Indeterminate => Try::open(durable, slot).ok_or(VerdictRefusal::Decided(row.state))?,
        RowState::Inflight => return Err(VerdictRefusal::Executing),
        state => return Err(VerdictRefusal::Decided(state)),
    };
    waits.map_or_else(|| Ok(request(open.try_no)), Err)
}

/// Returns an upper bound, in milliseconds, of the time until the settling time of a call in doubt has passed. The
/// bound comes from `next_try_us` of the row, which may also include a backoff. If the call is in doubt because of a
/// crash, the settling time has already passed: such a call is put in doubt only afterwards.
fn settling_wait_ms(durable: &Durable, row: &LedgerRow, now_us: i64) -> Option<u32> {
    let settles = durable.job.pinned(&row.operator).is_some_and(|operator| operator.resolution.settling_ms > 0);
    // After a "not yet" answer, `next_try_us` is the time of the next reconcile request, and the settling time has
    // already passed. A verdict does not wait for this request.
    let asked = durable.job.calls.get(&row.slot).is_some_and(|call| call.not_yet_answers > 0);
    resolution::remaining_wait_ms(row, now_us).filter(|_| settles && !asked)
}

/// Returns the draft for a verdict on a try of a call.
pub(crate) fn resolve(
    durable: &Durable,
    slot: &Slot,
    try_no: u32,
    verdict: &ManualVerdict,
    by: &DecidedBy,
    context: &Context<'_>,
) -> Draft {
    if let Some(draft) = answer_before_verdict(durable, slot, context) {
        return draft;
    }
    if compensation::next_try_of_failed(durable, slot) == Some(try_no)
        && let Some(draft) = compensation::leave_failed_compensation(durable, slot, verdict, by)
    {
        return draft;
    }
    let Some(call) = durable.job.calls.get(slot) else {
        return Draft::default();
    };
    let in_doubt = durable.rows.get(slot).is_some_and(|row| row.state == RowState::Indeterminate);
    let Some(open) = Try::open(durable, slot).filter(|open| in_doubt && open.try_no == try_no) else {
        return contradiction(durable, slot, try_no, call, verdict);
    };
    if let Some(draft) = compensation::mark_compensation_lost(durable, slot, &open, verdict, by, context) {
        return draft;
    }
    let invocation = recorded_invocation(durable, slot, call);
    let word = (by.actor.as_str(), by.reason.clone());
    let draft = match verdict {
        ManualVerdict::Applied(result) => {
            let output = Output { result: result.clone(), receipt: None, state_changes: vec![], usage: None };
            resolution::applied(
                durable,
                &invocation,
                &open,
                Answer::Ok(output),
                Provenance::PersonDecision,
                word,
                context,
            )
        }
        ManualVerdict::NotApplied => {
            resolution::not_applied(durable, &invocation, &open, Provenance::PersonDecision, word, context)
        }
        ManualVerdict::Abort => {
            resolution::mark_lost(durable, &invocation, &open, &by.actor, by.reason.clone(), context)
        }
    };
    draft.merge(unblock(durable, slot))
}

/// Returns the draft for the tool's own answer if it was recorded before the verdict could close the try. The tool's
/// answer counts, and the verdict is dropped.
fn answer_before_verdict(durable: &Durable, slot: &Slot, context: &Context<'_>) -> Option<Draft> {
    let call = durable.job.calls.get(slot)?;
    let row = durable.rows.get(slot).filter(|row| row.state == RowState::Indeterminate)?;
    let open = Try::open(durable, &row.slot)?;
    // Accept only the tool's own answer. An effect with any other provenance belongs to a verdict. A crash may leave
    // the effect of a verdict without the verdict's events.
    let is_answer = |effect: &&Effect| matches!(effect.provenance, Provenance::Executed | Provenance::KeyedRetry);
    let effect = mark_caught_up(resolution::stored_answer(durable, slot, &open).filter(is_answer)?);
    // Unblock a step that waits for the call. The unblocked step processes the answer itself and can make a retry if
    // the call needs one.
    let waits = unblock(durable, slot);
    if !waits.is_empty() {
        return Some(waits);
    }
    Some(answered(durable, &recorded_invocation(durable, slot, call), &open, effect, context))
}

/// Handles a verdict on a try that is not waiting for a verdict. If the try already has a different verdict, records a
/// conflict. If the try has no verdict or the same verdict, writes nothing. A finished job gets at most one conflict
/// per call.
fn contradiction(durable: &Durable, slot: &Slot, try_no: u32, call: &Call, verdict: &ManualVerdict) -> Draft {
    let Some(before) = call.verdicts.get(&try_no).copied() else {
        return Draft::default();
    };
    if before == verdict_kind(verdict) || durable.job.state.is_terminal() && call.conflict {
        return Draft::default();
    }
    let message =
        format!("it was resolved as {} before, and now as {}", before.as_str(), verdict_kind(verdict).as_str());
    single_event(Body::ResolutionConflict { slot: slot.clone(), try_no, message })
}

fn verdict_kind(verdict: &ManualVerdict) -> Verdict {
    match verdict {
        ManualVerdict::Applied(_) => Verdict::Applied,
        ManualVerdict::NotApplied => Verdict::NotApplied,
        ManualVerdict::Abort => Verdict::Lost,
    }
}
