//! D113: a tool that declares that it is pure must answer the same in every job, at every time and with every random
//! number.

use latchwork_core::model::manifest::Determinism;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::running_case::{RunningCase, describe_answer};

/// Numbers of the tries with another clock. The clock of the stub advances by an hour and some seconds in each try, so
/// the clocks differ in second, minute, hour, month and year.
const TRIES: [u32; 6] = [1, 2, 3, 24, 4_344, 9_624];
/// Number of other seeds of the random generators.
const SEEDS: u32 = 8;

/// A change of the context of a call.
type Change = Box<dyn Fn(&mut ToolCallContext) + Send + Sync>;

/// Calls a pure operator again with one other value at a time, and with another layout of its memory.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.spec.determinism != Determinism::Pure {
        return Ok(());
    }
    let base = answer_in(running, &|_| {}, false).await?;
    let mut causes: Vec<&str> = Vec::new();
    let mut first = None;
    for (cause, change) in changes() {
        if causes.contains(&cause) {
            continue;
        }
        let found = answer_in(running, &change, false).await?;
        if found != base {
            causes.push(cause);
            first.get_or_insert(found);
        }
    }
    if let Some(found) = first {
        let message = format!("it declares that it is pure but depends on {}", listed(&causes));
        report(running, message, &base, found, "declare the determinism class `stable`, or take it from the input");
        return Ok(());
    }
    if running.tools.moved.is_some() {
        let found = answer_in(running, &|_| {}, true).await?;
        if found != base {
            let message = "it declares that it is pure but depends on addresses or on unwritten memory".to_owned();
            report(running, message, &base, found, "look for an address, or memory that is read before it is written");
        }
    }
    Ok(())
}

/// Returns the values that are varied, each with its name in a finding.
fn changes() -> Vec<(&'static str, Change)> {
    let mut changes: Vec<(&'static str, Change)> = vec![
        ("the actor of its job", Box::new(|call| call.step.actor = "another-actor@example.org".into())),
        ("the tenant of its job", Box::new(|call| call.step.tenant = "tenant-b".into())),
        ("the id of its plan", Box::new(|call| call.step.plan_id = "another-plan-with-a-longer-id".into())),
        ("the id of its step", Box::new(|call| call.step.step_id = "step-two".into())),
        ("the id of its job", Box::new(|call| call.step.job_id = "job_01JZZZZZZZZZZZZZZZZZZZZZZZ-fork-2".into())),
        (
            "the correlation id of its job",
            Box::new(|call| call.step.correlation_id = "cor_01JZZZZZZZZZZZZZZZZZZZZZZZ.7".into()),
        ),
        ("the trace id of its call", Box::new(|call| call.trace_id = "fedcba9876543210fedcba9876543210".into())),
    ];
    for seed in 0..SEEDS {
        let change = move |call: &mut ToolCallContext| call.external_key = format!("check-another-key-{seed}");
        changes.push(("its random numbers or the key of its call", Box::new(change)));
    }
    for tries in TRIES {
        changes.push(("its clock", Box::new(move |call: &mut ToolCallContext| call.tries_before = tries)));
    }
    changes
}

/// Calls the operator in a new world and describes its answer. With `moved`, its memory has another layout.
async fn answer_in(
    running: &mut RunningCase<'_>,
    change: &(dyn Fn(&mut ToolCallContext) + Send + Sync),
    moved: bool,
) -> std::io::Result<String> {
    let world = running.world()?;
    let mut context = running.context(0);
    change(&mut context);
    let called = running.call_with(&world, context, moved).await;
    Ok(describe_answer(&called.end.answer, &world))
}

fn report(running: &mut RunningCase<'_>, message: String, base: &str, found: String, hint: &str) {
    let finding = running.add_finding("D113", message);
    (finding.expected, finding.found) = (Some(base.to_owned()), Some(found));
    finding.hint = Some(hint.to_owned());
}

/// Returns the causes as a list in a sentence.
fn listed(causes: &[&str]) -> String {
    match causes {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => causes.concat(),
    }
}
