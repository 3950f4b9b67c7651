//! Decides whether a world-changing call needs an approval. The decision depends on the plan, the mode, the
//! policy and the origin of a fork.

use crate::decide::{Context, is_dry};
use crate::model::ids::Operator;
use crate::model::manifest::{PinnedOperator, PluginKind};
use crate::model::mode::Mode;
use crate::plan;
use crate::rules::policy;
use crate::state::Durable;

/// Returns true if a person has to approve this invocation of `name` before it is made.
///
/// `own` is true if the invocation is the plan step itself, false if it is a call inside the step.
pub(crate) fn is_gated(
    durable: &Durable,
    context: &Context<'_>,
    planned: &plan::PlanStep,
    (name, operator): (&Operator, &PinnedOperator),
    own: bool,
) -> bool {
    let (job, rules) = (&durable.job, context.rules);
    let header = &job.header;
    if policy::needs_gate(rules, header.mode, planned, operator, own) {
        return true;
    }
    let is_tool = operator.kind == PluginKind::Tool;
    let is_external = operator.effects.iter().any(|effect| effect.is_external());
    let is_trusted = || rules.auto_exec.trusts(&header.actor_id, name);
    if header.mode == Mode::AutoExec && is_tool && is_external && !is_trusted() {
        return true;
    }
    // A call in a fork needs an approval, because the original job may already have made this call. A dry run changes
    // nothing and needs no approval.
    is_tool && operator.is_world_changing() && !is_dry(header.mode) && job.may_repeat_original(&planned.step_id)
}
