//! Confirmation: before a resumed job continues, the recorded changes of its earlier attempts are checked. The kernel
//! (`latchwork_core::decide`) selects the changes to check and the consequence of a failed check.

use std::sync::Arc;

use futures::StreamExt;

use latchwork_core::decide;
use latchwork_core::decide::{ConfirmationCheck, ConfirmationResult};
use latchwork_core::event::{Body, Resource};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::OWN_VERIFIER;
use latchwork_engine::VerifyResult;

use super::aborted::RunAborted;
use super::run::Run;

/// Maximum number of changes checked concurrently.
const CHECKS_CONCURRENT: usize = 8;
/// Maximum timeout of one check in milliseconds, even if the operator's own limit is higher.
const CHECK_MS_MAX: u32 = 30_000;

impl Run {
    /// Checks the recorded changes that are due for confirmation, each once per attempt. Writes the results
    /// and their consequences.
    pub(crate) async fn confirm(self: &Arc<Self>) -> Result<(), RunAborted> {
        let due = decide::due_confirmations(&self.state().durable);
        if due.is_empty() {
            return Ok(());
        }
        let looking = futures::stream::iter(due).map(|check| async {
            let looked = self.check_once(&check).await;
            (check, looked)
        });
        let looked: Vec<(ConfirmationCheck, ConfirmationResult)> = tokio::select! {
            biased;
            () = self.lease.wait_until_lost() => return Err(RunAborted::LeaseLost),
            looked = looking.buffered(CHECKS_CONCURRENT).collect() => looked,
        };
        let draft = decide::record_confirmation_results(&self.state().durable, &looked);
        for body in &draft.events {
            if let Body::ConfirmationFailed { slot, resource, outcome, found, consequence } = body {
                let (job_id, outcome) = (&self.job_id, outcome.as_str());
                tracing::warn!(%job_id, %slot, ?resource, outcome, ?consequence, "recorded change was not confirmed: {found}");
            }
        }
        self.write(draft).await
    }

    /// Checks a change once. Returns the earlier result if this attempt has already checked the change.
    async fn check_once(&self, check: &ConfirmationCheck) -> ConfirmationResult {
        let key = (check.slot.clone(), Resource::of(&check.change));
        let known = self.checked_changes.lock().expect("no holder panics").get(&key).cloned();
        if let Some(looked) = known {
            return looked;
        }
        let looked = match self.run_verifier(check).await {
            Ok(VerifyResult::Confirmed) => ConfirmationResult::Confirmed,
            Ok(VerifyResult::Mismatch(found)) => ConfirmationResult::Mismatch(found),
            Err(failure) => ConfirmationResult::Unavailable(failure.to_string()),
        };
        self.checked_changes.lock().expect("no holder panics").insert(key, looked.clone());
        looked
    }

    /// Runs the verifier of a change. The verifier may only read, and the limits of calls apply to it.
    async fn run_verifier(&self, check: &ConfirmationCheck) -> Result<VerifyResult, Failure> {
        let ConfirmationCheck { slot, operator, verifier, change } = check;
        let (digest, wasi, mut limits, first_attempt, tries) = {
            let state = self.state();
            let job = &state.durable.job;
            let pinned = job.pinned(operator).ok_or_else(|| internal("its operator is not pinned"))?;
            let call = job.calls.get(slot).ok_or_else(|| internal("its call is not recorded"))?;
            (pinned.digest, pinned.wasi, pinned.limits, call.first_attempt, call.tries)
        };
        // If the plugin of the call is missing, the change cannot be verified. The check then fails, but the run is not
        // aborted.
        let gone = |why: String| Failure::new(Code::DependencyUnavailable, why);
        let plugin = self.worker.parts.components.by_digest(digest, wasi).map_err(gone)?;
        limits.timeout_ms = limits.timeout_ms.min(CHECK_MS_MAX);
        if verifier != OWN_VERIFIER {
            let verifiers = &self.worker.parts.verifiers;
            let timeout_ms = limits.timeout_ms;
            let component = plugin.as_plugin().ok_or_else(|| internal("it is no component"))?;
            return verifiers.verify(verifier, operator.as_str(), change, component, timeout_ms, self.machine()).await;
        }
        let context =
            self.tool_context((slot, operator), limits.timeout_ms, tries, first_attempt, self.machine().boot_us());
        plugin.verify(operator.as_str(), change, context, &limits).await
    }
}

fn internal(message: &str) -> Failure {
    Failure::new(Code::Internal, message)
}
