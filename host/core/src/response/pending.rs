//! Requests that are accepted but not applied to the job yet. The response lists these requests, and does not offer
//! commands that would repeat them.

use super::{BlockedView, PendingView, Response, next_actions};
use crate::model::error::Code;
use crate::state::pending::RequestKind;
use crate::state::{Durable, pending};
use crate::storage::{InboxRequest, InboxRow};

impl Response {
    /// Returns this response with the requests that the job has accepted but not applied yet. The job applies these
    /// requests when it continues.
    ///
    /// The response offers no command for a request that is already pending. It also offers no command for a wait or
    /// gate whose time has passed at `now_us`, in microseconds since 1970 UTC.
    #[must_use]
    pub fn with_pending(self, durable: &Durable, inbox: &[InboxRow], now_us: i64) -> Response {
        let pending: Vec<PendingView> = inbox.iter().filter_map(view).collect();
        // A wait or gate whose time has passed accepts no requests, even before the expiry is recorded.
        let is_over = |view: &BlockedView| view.until.is_some_and(|until_us| until_us <= now_us);
        if pending.is_empty() && !self.blocked.iter().any(is_over) {
            let next_actions = next_actions(durable, &self.blocked, now_us);
            return Response { next_actions, ..self };
        }
        let all = |row: &PendingView| {
            matches!(
                row.asked,
                RequestKind::Continue
                    | RequestKind::Abort
                    | RequestKind::Cancel
                    | RequestKind::Retry
                    | RequestKind::Undo
            )
        };
        let mut left = self.blocked.clone();
        if pending.iter().any(all) {
            left.clear();
        } else {
            left.retain(|view| !is_over(view) && !is_already_requested(durable, inbox, view));
        }
        let mut next_actions = next_actions(durable, &left, now_us);
        let resume = format!("latch resume {}", self.job_id);
        next_actions.retain(|action| *action != resume);
        // `latch resume` is the first command of the list. There is one exception: if the attempts are exhausted,
        // `latch resume` has an effect only with a pending request to continue or abort. Without such a request, this
        // command comes last.
        let is_answered = pending.iter().any(|row| matches!(row.asked, RequestKind::Continue | RequestKind::Abort));
        let at = if self.reason_code == Some(Code::AttemptsExhausted) && !is_answered { next_actions.len() } else { 0 };
        next_actions.insert(at, resume);
        Response { pending, next_actions, ..self }
    }
}

fn view(row: &InboxRow) -> Option<PendingView> {
    let key = match &row.request {
        InboxRequest::Signal { key, .. } => Some(key.clone()),
        _ => None,
    };
    Some(PendingView {
        inbox_id: row.id,
        asked: RequestKind::of(&row.request)?,
        slot: pending::slot(&row.request).cloned(),
        correlation_key: key,
        by: row.actor.clone(),
        reason: row.reason.clone(),
    })
}

/// Returns true if a pending request already decides or answers the wait that `view` shows.
fn is_already_requested(durable: &Durable, inbox: &[InboxRow], view: &BlockedView) -> bool {
    let about = |row: &&InboxRow| pending::slot(&row.request) == Some(&view.slot);
    match view.reason_code {
        Code::RequiresApproval => {
            let gate = durable.job.open_gate(&view.slot);
            gate.is_some_and(|gate| pending::is_decided(gate, inbox, &view.slot))
        }
        Code::RequiresSignal => inbox.iter().any(
            |row| matches!(&row.request, InboxRequest::Signal { key, .. } if Some(key) == view.correlation_key.as_ref()),
        ),
        _ => inbox.iter().any(|row| about(&row)),
    }
}
