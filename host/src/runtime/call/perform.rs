//! One invocation: carries out the ledger's decisions until the call has a final answer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use latchwork_core::decide;
use latchwork_core::decide::{Invocation, NextAction, Try};
use latchwork_core::model::error::Failure;
use latchwork_core::model::ids::Operator;
use latchwork_core::storage::{Draft, StartCalls};

use crate::runtime::job::{CallStopped, Run, RunAborted};
use crate::runtime::worker::Permit;

/// Longest sleep, in milliseconds, between two checks of a call that another worker may still be executing.
const PROBE_PAUSE_MS_MAX: u32 = 1_000;

/// Progress of an invocation: answered, ready to execute, or blocked.
pub(crate) enum CallProgress {
    Answer(Result<String, Failure>),
    Ready {
        /// The barrier. `None` for calls that only read.
        barrier: Option<Draft<StartCalls>>,
        started: Try,
        /// Boot-clock time in microseconds, read before any write of the try was sent. The call's timeout
        /// counts from this time.
        since_boot_us: u64,
        /// Permit to execute the call.
        permit: Permit,
    },
    /// The invocation needs a wait that the [`WaitPolicy`] forbids, or the invocation is ready and the policy forbids
    /// its start.
    Blocked(WaitReason),
}

/// Reason why an invocation is [`CallProgress::Blocked`].
pub(crate) enum WaitReason {
    /// The invocation is ready, but [`WaitPolicy::UntilQueried`] forbids its start. No wait is needed.
    NotWaiting,
    /// The result of an earlier try must be queried first.
    Query,
    /// No permit of the operator is available.
    Permit,
    /// The invocation has to wait. The worker decides again after this many milliseconds at the latest.
    Delay(u32),
}

/// Work that [`Run::advance_call`] may wait for before it returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitPolicy {
    /// Waits only for writes to the store and for lookups in it.
    NoWait,
    /// Waits for the work of `NoWait`, and for the answers to questions about an earlier try. Never returns
    /// [`CallProgress::Ready`].
    UntilQueried,
    /// Waits for the same work as `UntilQueried`, but returns [`CallProgress::Ready`] if the call may start. If the
    /// call needs a permit or a delay first, returns [`CallProgress::Blocked`].
    UntilReady,
    /// Waits for anything that is necessary until the invocation is answered or may start.
    UntilAnswered,
}

impl Run {
    /// Performs an invocation until it has a final answer.
    pub(crate) async fn perform(
        self: &Arc<Self>,
        invocation: &mut Invocation,
    ) -> Result<Result<String, Failure>, CallStopped> {
        loop {
            match self.advance_call(invocation, WaitPolicy::UntilAnswered, None).await? {
                CallProgress::Answer(answer) => return Ok(answer),
                CallProgress::Ready { barrier, started, since_boot_us, permit: leave } => {
                    // The call counts as in flight before its barrier is sent, so that a stopping worker waits for the
                    // call. Otherwise the worker could stop after the barrier and before the call, and the call would
                    // be in doubt for no reason.
                    let under_way = self.in_flight_calls.begin_call()?;
                    // The barrier must be durable before the tool is called.
                    if let Some(barrier) = barrier {
                        self.unacknowledged.note_barrier_sent(&invocation.slot, &started, since_boot_us);
                        self.write(barrier).await?;
                    }
                    self.execute_and_record(invocation, &started, since_boot_us, (leave, under_way)).await?;
                }
                CallProgress::Blocked(_) => {}
            }
        }
    }

    /// Performs an invocation that no step waits for. Returns when the invocation has its answer or cannot
    /// continue now.
    pub(crate) async fn drive_invocation(self: &Arc<Self>, mut invocation: Invocation) -> Result<(), RunAborted> {
        match self.perform(&mut invocation).await {
            Ok(_) | Err(CallStopped::Blocked | CallStopped::RetryLater | CallStopped::Cancelled) => Ok(()),
            Err(CallStopped::Diverged(divergence)) => {
                self.state().divergence.get_or_insert(divergence);
                Ok(())
            }
            Err(CallStopped::Aborted(dropped)) => Err(dropped),
        }
    }

    /// Performs several invocations concurrently. Each pass first determines the invocations that may start now. The
    /// pass writes the barriers of these invocations in one transaction, and then makes their calls concurrently.
    ///
    /// The other invocations wait for a limit, a backoff or the outcome of an earlier try. They start in a later pass.
    pub(crate) async fn perform_all(
        self: &Arc<Self>,
        invocations: &mut [Invocation],
    ) -> Result<Vec<Result<String, Failure>>, CallStopped> {
        // If several invocations have the same operator and action key, only the first of them executes here. The
        // others get its receipt at the end of this function.
        let acts = |index: &usize| {
            let invocation = &invocations[*index];
            let same = |other: &Invocation| {
                (&other.operator, other.action_key) == (&invocation.operator, invocation.action_key)
            };
            invocation.action_key.is_none() || !invocations[..*index].iter().any(same)
        };
        let mut left: Vec<usize> = (0..invocations.len()).filter(acts).collect();
        let mut given: Option<(Operator, Permit)> = None;
        // Invocations that the last pass found ready after questions about an earlier try. The next pass may ask
        // further questions about these invocations immediately.
        let mut looked_at = BTreeSet::new();
        while !left.is_empty() {
            // This loop finds the calls that may start now. It waits for no permit and for no delay, because calls
            // found earlier in the loop already hold permits.
            let (mut begin, mut barriers) = (Vec::new(), Vec::new());
            let (mut looks, mut leaves) = (Vec::new(), Vec::new());
            for index in std::mem::take(&mut left) {
                let invocation = &mut invocations[index];
                let leave = given.take_if(|(of, _)| *of == invocation.operator).map(|(_, leave)| leave);
                let begins = leave.is_some() || looked_at.contains(&index);
                let patience = if begins { WaitPolicy::UntilReady } else { WaitPolicy::NoWait };
                match self.advance_call(invocation, patience, leave).await? {
                    CallProgress::Answer(_) => {}
                    CallProgress::Blocked(WaitReason::Permit) => leaves.push(index),
                    CallProgress::Blocked(_) => looks.push(index),
                    CallProgress::Ready { barrier, started, since_boot_us, permit: leave } => {
                        if let Some(barrier) = barrier {
                            let slot = &invocations[index].slot;
                            self.unacknowledged.note_barrier_sent(slot, &started, since_boot_us);
                            barriers.push(barrier);
                        }
                        begin.push((index, started, since_boot_us, leave));
                    }
                }
            }
            given = None;
            looked_at.clear();
            let is_idle = begin.is_empty();
            self.start_calls(invocations, begin, barriers.into_iter().reduce(Draft::merge)).await?;
            if !is_idle {
                left.extend(looks.iter().chain(&leaves));
                left.sort_unstable();
                continue;
            }
            // No call may start now, so this pass holds no permit. Here the pass may wait for answers about earlier
            // tries, for delays and for permits.
            let mut least_ms = None;
            for index in looks {
                match self.advance_call(&mut invocations[index], WaitPolicy::UntilQueried, None).await? {
                    CallProgress::Answer(_) => continue,
                    CallProgress::Blocked(WaitReason::Delay(ms)) => {
                        least_ms = Some(least_ms.map_or(ms, |least: u32| least.min(ms)))
                    }
                    CallProgress::Blocked(_) | CallProgress::Ready { .. } => drop(looked_at.insert(index)),
                }
                left.push(index);
            }
            let operators: BTreeSet<&Operator> = leaves.iter().map(|index| &invocations[*index].operator).collect();
            if looked_at.is_empty() && (least_ms.is_some() || !operators.is_empty()) {
                given = self.acquire_any(operators, least_ms).await;
            }
            left.extend(leaves);
            left.sort_unstable();
        }
        // For an invocation that already has a final answer, `perform` returns this answer at once. An invocation that
        // was left out because of an equal action key is executed here. The loop performs one invocation at a time.
        let mut answers = Vec::new();
        for invocation in invocations {
            answers.push(self.perform(invocation).await?);
        }
        Ok(answers)
    }

    /// Writes all barriers in one write, then makes the calls concurrently.
    async fn start_calls(
        self: &Arc<Self>,
        invocations: &[Invocation],
        begin: Vec<(usize, Try, u64, Permit)>,
        barriers: Option<Draft<StartCalls>>,
    ) -> Result<(), CallStopped> {
        let mut calls = Vec::new();
        for (index, one, since, leave) in begin {
            calls.push((index, one, since, (leave, self.in_flight_calls.begin_call()?)));
        }
        if let Some(barriers) = barriers {
            self.write(barriers).await?;
        }
        let calls = calls.into_iter().map(|(index, one, since, held)| {
            let invocation = &invocations[index];
            async move { self.execute_and_record(invocation, &one, since, held).await }
        });
        for result in futures::future::join_all(calls).await {
            result?;
        }
        Ok(())
    }

    /// Returns the first permit that becomes available for one of these operators, or `None` after the timeout.
    async fn acquire_any(&self, operators: BTreeSet<&Operator>, least_ms: Option<u32>) -> Option<(Operator, Permit)> {
        // If `operators` is not empty, the worker also waits for permits, and sleeps for up to the whole `least_ms`. A
        // shorter sleep would end this function early, and the worker would lose its places in the queues for the
        // permits.
        let most_ms = if operators.is_empty() { PROBE_PAUSE_MS_MAX } else { u32::MAX };
        let time = async {
            match least_ms {
                Some(ms) => tokio::time::sleep(Duration::from_millis(u64::from(ms.clamp(1, most_ms)))).await,
                None => std::future::pending().await,
            }
        };
        let limits = &self.worker.limits;
        let leaves = operators
            .into_iter()
            .map(|operator| Box::pin(async move { (operator.clone(), limits.acquire(operator).await) }));
        let leaves: Vec<_> = leaves.collect();
        let first = async {
            match leaves.is_empty() {
                true => std::future::pending().await,
                false => futures::future::select_all(leaves).await.0,
            }
        };
        tokio::select! {
            given = first => Some(given),
            () = time => None,
        }
    }

    /// Follows the ledger's decisions until the invocation is answered, may be executed, or needs a wait that
    /// `patience` does not allow.
    async fn advance_call(
        self: &Arc<Self>,
        invocation: &mut Invocation,
        patience: WaitPolicy,
        mut leave: Option<Permit>,
    ) -> Result<CallProgress, CallStopped> {
        let limits = &self.worker.limits;
        let mut asked = 0;
        invocation.nonce = self.unacknowledged.pending_nonce(&invocation.slot);
        loop {
            // The clock is read before the decision, and therefore before the barrier is sent. Every delay of this
            // process after this line counts against the call's timeout.
            let since_boot_us = self.machine().boot_us();
            match self.decide_next(invocation) {
                NextAction::Answer(answer) => return Ok(CallProgress::Answer(answer)),
                NextAction::Execute { barrier, started } => {
                    // A missing plugin aborts the try before anything is recorded about the call.
                    self.pinned_tool(invocation)?;
                    if patience == WaitPolicy::UntilQueried {
                        return Ok(CallProgress::Blocked(WaitReason::NotWaiting));
                    }
                    match leave.take().or_else(|| limits.try_acquire(&invocation.operator)) {
                        Some(leave) => {
                            let since_boot_us =
                                self.unacknowledged.try_started_boot_us(&invocation.slot, &started, since_boot_us);
                            return Ok(CallProgress::Ready { barrier, started, since_boot_us, permit: leave });
                        }
                        None if patience != WaitPolicy::UntilAnswered => {
                            return Ok(CallProgress::Blocked(WaitReason::Permit));
                        }
                        // The state may change during the wait for a permit, so the loop decides again after the wait.
                        None => leave = Some(limits.acquire(&invocation.operator).await),
                    }
                }
                NextAction::Write(draft) => {
                    self.write(draft).await?;
                    self.stop_if_retrying(&invocation.slot)?;
                }
                NextAction::CheckOwner | NextAction::Reconcile { .. } if patience == WaitPolicy::NoWait => {
                    return Ok(CallProgress::Blocked(WaitReason::Query));
                }
                NextAction::FindKeyHolder => self.find_key_holder(invocation).await?,
                NextAction::CheckOwner => invocation.quiescence = Some(self.probe_owner(invocation).await?),
                NextAction::ReadSpending => invocation.month_micro_usd = Some(self.spent_this_month().await?),
                NextAction::StopOldCall => {
                    // An earlier try of this attempt is still open in the log. A request of that try may still be in
                    // transit. The worker therefore forgets the nonce and the quiescence of the try. The next decision
                    // then requests a new check of the quiescence.
                    invocation.nonce = None;
                    invocation.quiescence = None;
                }
                NextAction::WaitMs(ms) => {
                    invocation.quiescence = None;
                    if patience != WaitPolicy::UntilAnswered {
                        return Ok(CallProgress::Blocked(WaitReason::Delay(ms)));
                    }
                    tokio::time::sleep(Duration::from_millis(u64::from(ms.clamp(1, PROBE_PAUSE_MS_MAX)))).await;
                }
                NextAction::Reconcile { try_no, first_attempt } => {
                    asked += 1;
                    self.reconcile(invocation, try_no, first_attempt, asked).await?;
                }
                NextAction::Block(draft) => {
                    self.write(draft).await?;
                    return Err(CallStopped::Blocked);
                }
                NextAction::Diverge(divergence) => return Err(CallStopped::Diverged(divergence)),
                NextAction::Abandon => return Err(CallStopped::Cancelled),
            }
        }
    }

    /// Returns the next decision about a call. If the call may execute, its maximum cost is reserved before the lock of
    /// the job's state is released. Without the reservation, two concurrent calls could both spend the same remaining
    /// budget.
    pub(crate) fn decide_next(&self, invocation: &mut Invocation) -> NextAction {
        let context = self.context();
        let mut state = self.state();
        let slot = &invocation.slot;
        invocation.reserved_micro_usd = decide::reserved_cost(&state.durable, &state.reserved_costs, slot);
        let next = decide::next_action(&state.durable, invocation, &context);
        if let (NextAction::Execute { started, .. }, Some(most)) = (&next, invocation.max_cost_micro_usd) {
            state.reserved_costs.insert(slot.clone(), (started.try_no, most));
        }
        next
    }
}
