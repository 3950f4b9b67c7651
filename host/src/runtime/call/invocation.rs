//! Creates invocations.

use latchwork_core::decide;
use latchwork_core::decide::Invocation;
use latchwork_core::encoding::canon;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::ids::{Operator, Slot};
use latchwork_core::model::keys;
use latchwork_core::state::label;

use crate::runtime::job::Run;

impl Run {
    /// Creates an invocation. Canonicalizes and checks the arguments, and determines the action key and the timeout.
    /// `action` is the action key text given by a step plugin.
    pub(crate) fn invocation(&self, slot: Slot, operator: Operator, args: &[u8], action: Option<&str>) -> Invocation {
        let (args, mut unfit) = match canon::canonicalize(args) {
            Ok(canonical) => (canonical, None),
            Err(error) => {
                let failure = Failure::new(Code::InvalidInput, format!("the arguments are refused: {error}"));
                (args.to_vec(), Some(failure))
            }
        };
        let state = self.state();
        let job = &state.durable.job;
        let args_ref = state.durable.payload_ref(&label::args(&slot), &args);
        let pinned = job.pinned(&operator);
        let of_step = decide::step_action_key(&state.durable, &slot).unwrap_or_else(|failure| {
            unfit.get_or_insert(failure);
            None
        });
        let is_keyed = pinned.is_some_and(|operator| decide::is_keyed(job, operator));
        let action_key = of_step.or_else(|| action.filter(|_| is_keyed).map(keys::call_action_key));
        let planned = job.plan.step(&slot.step());
        let of_plan = planned.filter(|_| slot.is_step()).and_then(latchwork_core::plan::PlanStep::timeout_ms);
        let timeout_ms = of_plan.or(pinned.map(|operator| operator.limits.timeout_ms)).unwrap_or(0);
        if unfit.is_none()
            && let Some(pinned) = pinned
            && let Ok(plugin) = self.worker.parts.components.by_digest(pinned.digest, pinned.wasi)
        {
            let value = serde_json::from_slice(&args).expect("canonical JSON is JSON");
            unfit = plugin.check_input(operator.as_str(), &value).err();
        }
        let most_micro_usd = pinned.and_then(|pinned| self.worker.max_cost(&pinned.plugin, &args));
        Invocation {
            slot,
            operator,
            args,
            args_ref,
            action_key,
            timeout_ms,
            unusable: unfit,
            nonce: None,
            quiescence: None,
            reconcile_exhausted: false,
            max_cost_micro_usd: most_micro_usd,
            reserved_micro_usd: 0,
            month_micro_usd: None,
        }
    }
}
