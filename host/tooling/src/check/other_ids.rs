//! Ids of another job. A pure operator must not depend on them, in a step or in a tool.

use latchwork_engine::guest::sources::StepContext;

/// Name of an id in a finding, and the function that replaces the id in a context. The new id also has another length.
pub(crate) type OtherId = (&'static str, fn(&mut StepContext));

/// Every id that a plugin can read.
pub(crate) const OTHER_IDS: [OtherId; 6] = [
    ("the actor of its job", |context| context.actor = "another-actor@example.org".into()),
    ("the tenant of its job", |context| context.tenant = "tenant-b".into()),
    ("the id of its plan", |context| context.plan_id = "another-plan-with-a-longer-id".into()),
    ("the id of its step", |context| context.step_id = "step-two".into()),
    ("the id of its job", |context| context.job_id = "job_01JZZZZZZZZZZZZZZZZZZZZZZZ-fork-2".into()),
    ("the correlation id of its job", |context| context.correlation_id = "cor_01JZZZZZZZZZZZZZZZZZZZZZZZ.7".into()),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// I215: a new field of the context has to be varied, too.
    #[test]
    fn each_id_of_the_context_is_replaced() {
        let mut context = StepContext::default();
        let StepContext { tenant, actor, correlation_id, job_id, plan_id, step_id } = {
            OTHER_IDS.iter().for_each(|(_, replace)| replace(&mut context));
            context
        };
        let all = [tenant, actor, correlation_id, job_id, plan_id, step_id];
        assert!(all.iter().all(|id| !id.is_empty()), "{all:?}");
    }
}
