//! D109 and D122: two calls at once must have the effect of one call after the other. A call that then reports no change must
//! have left none.

use latchwork_core::model::effect::Answer;
use latchwork_core::model::ids::Hash;
use latchwork_engine::guest::tool_call::ToolCallContext;

use crate::check::tools::applied::difference;
use crate::check::tools::case::ToolCase;
use crate::check::tools::case_map::Access;
use crate::check::tools::running_case::{RunningCase, describe_answer};
use crate::check::tools::world::{World, WorldSnapshot};

/// Maximum number of writes of a call to the map before which another call is made.
const WRITES_MAX: usize = 16;

/// Maximum number of other inputs of the second call.
const INPUTS_MAX: usize = 8;

/// Makes a second call before each write that the first call makes to the map. The test is repeated for second calls
/// with equal and with other arguments. Afterwards the entries must be the same as after two calls in sequence.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if running.case.error.is_some() || !running.spec.is_world_changing() {
        return Ok(());
    }
    for other in running.cases_with_other_inputs(INPUTS_MAX) {
        if let Some((write, difference, displayed)) = left_change(running, &other).await? {
            let message = format!(
                "another call is made before write {write} of the call: compared with that call alone, {difference}, but the tool \
                 reports no change"
            );
            let finding = running.add_finding("D109", message);
            finding.found = Some(displayed);
            finding.hint = Some("report `applied` as unknown after the first change".to_owned());
            return Ok(());
        }
        if let Some((write, difference)) = lost_change(running, &other).await? {
            let message =
                format!("another call is made before write {write} of the call, and both succeed: {difference}");
            running.add_finding("D122", message).hint = Some(
                "name each entry by the external key, or send the change to a server or database with transactions"
                    .to_owned(),
            );
            return Ok(());
        }
    }
    Ok(())
}

/// Makes the call `other` before each write of the case's call. Returns the number of the first write, from 1, at which the
/// case's call reports no change and leaves one, with a description of the change and the answer.
async fn left_change(running: &RunningCase<'_>, other: &ToolCase) -> std::io::Result<Option<(usize, String, String)>> {
    let first = CaseCall { case: running.case, context: running.context(0) };
    let second = CaseCall { case: other, context: running.context_of_other_call() };
    let alone = running.world()?;
    if !succeeds(running, &alone, &second).await {
        return Ok(None);
    }
    let keys = [first.context.external_key.clone(), second.context.external_key.clone()];
    let alone = shared_entries(&alone, &keys);
    for number in 0..WRITES_MAX {
        let world = running.world()?;
        let Some((answer, is_second_made)) = answer_at_once(running, &world, number, (&first, &second)).await else {
            break;
        };
        if !is_second_made || !matches!(answer, Answer::NotApplied(_)) {
            continue;
        }
        if let Some(difference) = difference(&alone, &shared_entries(&world, &keys)) {
            return Ok(Some((number + 1, difference, describe_answer(&answer, &world))));
        }
    }
    Ok(None)
}

/// Makes the call `other` before each write of the case's call. Returns the number of the first write, from 1, at which
/// a change is lost, and a description of the difference.
async fn lost_change(running: &RunningCase<'_>, other: &ToolCase) -> std::io::Result<Option<(usize, String)>> {
    let first = CaseCall { case: running.case, context: running.context(0) };
    let second = CaseCall { case: other, context: running.context_of_other_call() };
    let keys = [first.context.external_key.clone(), second.context.external_key.clone()];
    // The entries after two calls in sequence, for both orders. `None` if the tool refuses the second call.
    let mut sequences = Vec::new();
    for (one, other) in [(&first, &second), (&second, &first)] {
        let world = running.world()?;
        if !succeeds(running, &world, one).await {
            return Ok(None);
        }
        match running.calling(other.case, &world, other.context.clone(), false).await.end.answer {
            Answer::Ok(_) => sequences.push(Some(shared_entries(&world, &keys))),
            Answer::NotApplied(_) => sequences.push(None),
            Answer::Unknown { .. } => return Ok(None),
        }
    }
    for number in 0..WRITES_MAX {
        let world = running.world()?;
        let Some(both_succeed) = made_at_once(running, &world, number, (&first, &second)).await else { break };
        let found = Some(shared_entries(&world, &keys));
        if both_succeed && !sequences.contains(&found) {
            let difference = match (&sequences[0], &found) {
                (Some(expected), Some(found)) => {
                    format!(
                        "compared with one call after the other, {}",
                        difference(expected, found).unwrap_or_default()
                    )
                }
                _ => "one call after the other, the second one is refused".to_owned(),
            };
            return Ok(Some((number + 1, difference)));
        }
    }
    Ok(None)
}

/// A call of the case, possibly with another input.
struct CaseCall<'c> {
    case: &'c ToolCase,
    context: ToolCallContext,
}

/// Returns the entries of the map whose names contain no key of a call. An entry whose name contains the key of a call
/// belongs to that call alone.
fn shared_entries(world: &World, keys: &[String]) -> WorldSnapshot {
    let entries = world.map_entries().into_iter().filter(|(name, _)| !keys.iter().any(|key| name.contains(key)));
    // If the contents of an entry contain keys of calls, only these keys are compared. The rest of such contents
    // follows from the calls with these keys.
    let hash = |contents: Vec<u8>| {
        let text = String::from_utf8_lossy(&contents);
        let named: Vec<&[u8]> = keys.iter().filter(|key| text.contains(*key)).map(|key| key.as_bytes()).collect();
        if named.is_empty() { Hash::of(&[&contents]) } else { Hash::of(&named) }
    };
    entries.map(|(name, contents)| (format!("map {name}"), hash(contents))).collect()
}

async fn succeeds(running: &RunningCase<'_>, world: &World, call: &CaseCall<'_>) -> bool {
    let called = running.calling(call.case, world, call.context.clone(), false).await;
    matches!(called.end.answer, Answer::Ok(_))
}

/// Makes the second call before this write of the first call. Returns true if both calls succeed. Returns `None` if the
/// first call makes no such write.
async fn made_at_once(
    running: &RunningCase<'_>,
    world: &World,
    number: usize,
    calls: (&CaseCall<'_>, &CaseCall<'_>),
) -> Option<bool> {
    let (answer, is_second_made) = answer_at_once(running, world, number, calls).await?;
    Some(is_second_made && matches!(answer, Answer::Ok(_)))
}

/// Makes the second call before this write of the first call. Returns the answer to the first call, and true if the second
/// call succeeds. Returns `None` if the first call makes no such write.
async fn answer_at_once(
    running: &RunningCase<'_>,
    world: &World,
    number: usize,
    (first, second): (&CaseCall<'_>, &CaseCall<'_>),
) -> Option<(Answer, bool)> {
    let paused = world.pause_before(Access::Write(number));
    let mut call = std::pin::pin!(running.calling(first.case, world, first.context.clone(), false));
    tokio::select! {
        biased;
        reached = paused.reached => reached.ok()?,
        _ = &mut call => return None,
    }
    let is_second_made = succeeds(running, world, second).await;
    // The first call waits for this message.
    let _ = paused.resume.send(());
    Some((call.await.end.answer, is_second_made))
}
