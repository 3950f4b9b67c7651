//! D118: an undo can add a new entry with the values from before the call. It must put all of them back.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use latchwork_core::model::effect::Answer;

use crate::check::tools::running_case::RunningCase;
use crate::check::tools::undone::{compensate, report};

/// Undoes the call of a case, and compares the new entry of the undo with those of the call and from before the call.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let is_undone = running.tools.plugin.compensate && running.case.error.is_none();
    if !is_undone || !running.spec.is_world_changing() || running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    let world = running.world()?;
    let before = world.contents();
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(()) };
    let called = world.contents();
    let answer = compensate(running, &world, &done).await;
    if !matches!(answer, Answer::Ok(_)) {
        return Ok(());
    }
    let undone = world.contents();
    let input: Map<String, Value> = serde_json::from_str(&running.case.input).unwrap_or_default();
    if let Some((name, member)) = kept_member(&input, &before, &called, &undone) {
        let message = format!("compensate puts earlier values back into {name}, but {member:?} is that of the call");
        report(running, message, &answer, &world, "put back all of what the call replaced");
    }
    Ok(())
}

/// Returns the new entry of an undo and a member of it that has the value of the call, although another member has the
/// value from before the call. The value of the call is one of its arguments.
fn kept_member(
    input: &Map<String, Value>,
    before: &BTreeMap<String, Vec<u8>>,
    called: &BTreeMap<String, Vec<u8>>,
    undone: &BTreeMap<String, Vec<u8>>,
) -> Option<(String, String)> {
    let (of_call, of_undo) = (new_entry(before, called)?, new_entry(called, undone)?);
    // The newest entry from before the call has the last name, as the new entries have.
    let earlier =
        before.iter().rev().find_map(|(name, content)| (is_beside(name, of_call.0)).then(|| object(content))?)?;
    let (call, undo) = (of_call.1, of_undo.1);
    let is_back = |name: &&String| earlier.get(*name) != call.get(*name) && undo.get(*name) == earlier.get(*name);
    let is_kept = |name: &&String| {
        let is_argument = input.get(*name).is_some() && input.get(*name) == call.get(*name);
        is_argument
            && earlier.contains_key(*name)
            && earlier.get(*name) != call.get(*name)
            && undo.get(*name) == call.get(*name)
    };
    call.keys().find(is_back)?;
    Some((of_undo.0.clone(), call.keys().find(is_kept)?.clone()))
}

/// Returns the entry that was added, if there is exactly one and its content is a JSON object.
fn new_entry<'e>(
    before: &BTreeMap<String, Vec<u8>>,
    after: &'e BTreeMap<String, Vec<u8>>,
) -> Option<(&'e String, Map<String, Value>)> {
    let mut added = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let (name, content) = added.next().filter(|_| added.next().is_none())?;
    Some((name, object(content)?))
}

fn object(content: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(content).ok()
}

/// Returns true if two entries have the same folder.
fn is_beside(name: &str, other: &str) -> bool {
    let folder = |name: &str| name.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    folder(name) == folder(other)
}
