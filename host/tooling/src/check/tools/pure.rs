//! D113: a tool that declares that it is pure must answer the same in every job, at every time and with every random
//! number. A pure or stable tool must answer the same without the entries of its map.

use latchwork_core::model::effect::Answer;
use latchwork_core::model::manifest::Determinism;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::other_ids::{OTHER_IDS, OtherId};
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::world::World;

/// Numbers of the tries with another clock. The clock of the stub advances by an hour and some seconds in each try, so
/// the clocks differ in second, minute, hour, month and year.
const TRIES: [u32; 6] = [1, 2, 3, 24, 4_344, 9_624];
/// Number of other seeds of the random generators.
const SEEDS: u32 = 8;

/// Names of the clock and of the random numbers in a finding.
const CLOCK: &str = "its clock";
const RANDOM: &str = "its random numbers or the key of its call";

/// A change of the context of a call.
type ContextChange = Box<dyn Fn(&mut ToolCallContext) + Send + Sync>;

pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    match running.spec.determinism {
        Determinism::External => return Ok(()),
        Determinism::Stable => {}
        Determinism::Pure => check_changes(running).await?,
    }
    check_contents(running).await
}

/// Calls the operator again without the entries of its map. The answer of a server is not the answer of the map.
async fn check_contents(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let is_found = running.found.iter().any(|finding| finding.rule == "D113");
    if is_found || !running.case.http.is_empty() || running.case.kv.as_ref().is_none_or(|map| map.is_empty()) {
        return Ok(());
    }
    let usual = running.world()?;
    let empty = running.world()?;
    let entries: Vec<String> = empty.map_entries().into_keys().map(|key| format!("map {key}")).collect();
    empty.remove(&entries)?;
    let base = answer_of(running, &usual, running.context(0), false).await;
    let found = answer_of(running, &empty, running.context(0), false).await;
    let (Some(base), Some(found)) = (base, found) else { return Ok(()) };
    if found != base {
        let class = running.spec.determinism.as_str();
        let message = format!("it declares that it is {class} but answers differently without the entries of its map");
        report(running, message, &base, found, "declare the determinism class `external`, or take it from the input");
    }
    Ok(())
}

/// Calls a pure operator again with one other value at a time, and with another layout of its memory.
async fn check_changes(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let Some(base) = answer_in(running, &|_| {}, false).await? else { return Ok(()) };
    if let Some(again) = answer_in(running, &|_| {}, false).await?.filter(|again| *again != base) {
        let message = "it declares that it is pure but differs from run to run".to_owned();
        report(running, message, &base, again, "look for a value that the host does not inject");
        return Ok(());
    }
    let world = running.world()?;
    running.call(&world, 0).await;
    if let Some(asked) = world.asked() {
        let hint = "declare the determinism class `external`, or take the value from the input";
        running.add_finding("D113", format!("it declares that it is pure but {asked}")).hint = Some(hint.to_owned());
        return Ok(());
    }
    let mut causes: Vec<&str> = Vec::new();
    let mut first = None;
    for (cause, change) in changes() {
        // Another try has another clock and also other random numbers. The clock counts as the cause only if random
        // numbers alone cause no difference.
        if causes.contains(&cause) || cause == CLOCK && causes.contains(&RANDOM) {
            continue;
        }
        if let Some(found) = answer_in(running, &change, false).await?.filter(|found| *found != base) {
            causes.push(cause);
            first.get_or_insert(found);
        }
    }
    if let Some(found) = first {
        let message = format!("it declares that it is pure but depends on {}", listed(&causes));
        report(running, message, &base, found, "declare the determinism class `stable`, or take it from the input");
        return Ok(());
    }
    if running.tools.moved.is_none() {
        return Ok(());
    }
    if let Some(found) = answer_in(running, &|_| {}, true).await?.filter(|found| *found != base) {
        let message = "it declares that it is pure but depends on addresses or on unwritten memory".to_owned();
        report(running, message, &base, found, "look for an address, or memory that is read before it is written");
    }
    Ok(())
}

/// Returns the values that are varied, each with its name in a finding.
fn changes() -> Vec<(&'static str, ContextChange)> {
    let id = |(name, replace): &'static OtherId| -> (&'static str, ContextChange) {
        (name, Box::new(|call| replace(&mut call.step)))
    };
    let mut changes: Vec<_> = OTHER_IDS.iter().map(id).collect();
    let other_trace = |call: &mut ToolCallContext| call.trace_id = "fedcba9876543210fedcba9876543210".into();
    changes.push(("the trace id of its call", Box::new(other_trace)));
    for seed in 0..SEEDS {
        let change = move |call: &mut ToolCallContext| call.external_key = format!("check-another-key-{seed}");
        changes.push((RANDOM, Box::new(change)));
    }
    for tries in TRIES {
        changes.push((CLOCK, Box::new(move |call: &mut ToolCallContext| call.tries_before = tries)));
    }
    changes
}

/// Calls the operator in a new world and describes its answer, as [`answer_of`] does.
async fn answer_in(
    running: &mut RunningCase<'_>,
    change: &(dyn Fn(&mut ToolCallContext) + Send + Sync),
    moved: bool,
) -> std::io::Result<Option<String>> {
    let world = running.world()?;
    let mut context = running.context(0);
    change(&mut context);
    Ok(answer_of(running, &world, context, moved).await)
}

/// Calls the operator and describes its answer. With `moved`, its memory has another layout. Returns `None` if a limit of
/// the machine ended the call, because such an end says nothing about the tool.
async fn answer_of(
    running: &mut RunningCase<'_>,
    world: &World,
    context: ToolCallContext,
    moved: bool,
) -> Option<String> {
    let answer = running.call_with(world, context, moved).await.end.answer;
    let is_of_machine = match &answer {
        Answer::Ok(_) => false,
        Answer::NotApplied(failure) | Answer::Unknown { failure, .. } => failure.code.is_of_machine(),
    };
    (!is_of_machine).then(|| describe_answer(&answer, world))
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
