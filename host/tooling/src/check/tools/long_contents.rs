//! D118: a call replaces long contents. `compensate` must put all of them back, and not only their beginning.

use serde_json::Value;

use latchwork_core::model::effect::Answer;

use crate::check::tools::case::ToolCase;
use crate::check::tools::compensation::{compensate, report};
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::World;

/// Number of numbered words of the long contents. No two parts of the contents are equal.
const WORDS: usize = 700;
/// Length of the beginning by which contents are recognized, in bytes.
const BEGINNING_BYTES: usize = 48;
/// Number of quotation marks of an entry. The entry fits into the map, and its JSON text does not.
const QUOTES: usize = 40_000;
/// Maximum number of texts in responses that are replaced, one text in each run.
const TEXTS_MAX: usize = 8;

/// Makes and undoes the call with long contents in its folders and its map, or in the responses of its servers.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    if !running.is_undo_open() {
        return Ok(());
    }
    let contents: String = (0..WORDS).map(|number| format!("word{number} ")).collect();
    let contents = contents.trim_end();
    if check_quotes(running).await? {
        return Ok(());
    }
    for is_second in [false, true] {
        let world = running.earlier_world(is_second).await?;
        world.replace_all(contents.as_bytes())?;
        if is_shortened(running, &world, contents).await {
            return Ok(());
        }
    }
    for case in with_contents(running.case, contents) {
        let world = running.world_of(&case)?;
        if is_shortened(running, &world, contents).await {
            return Ok(());
        }
    }
    Ok(())
}

/// Makes the call over an entry of quotation marks, which is about twice as long as a JSON text. A call that succeeds has kept
/// the entry, so that it can be undone like the call of the case. Returns true if there is a finding.
async fn check_quotes(running: &mut RunningCase<'_>) -> std::io::Result<bool> {
    if !running.case.http.is_empty() || running.undo != Some(Ok(())) {
        return Ok(false);
    }
    let world = running.world()?;
    let before = world.contents();
    running.call(&world, 0).await;
    let after = world.contents();
    let is_replaced = |name: &String| after.contains_key(name) && after.get(name) != before.get(name);
    let is_entry = |name: &&String| name.starts_with("map ") && is_replaced(name);
    let replaced: Vec<String> = before.keys().filter(is_entry).cloned().collect();
    if replaced.is_empty() {
        return Ok(false);
    }
    let world = running.world()?;
    world.replace(&replaced, "\"".repeat(QUOTES).as_bytes());
    let Answer::Ok(done) = running.call(&world, 0).await.end.answer else { return Ok(false) };
    let answer = compensate(running, &world, &done).await;
    if matches!(answer, Answer::Ok(_)) {
        return Ok(false);
    }
    let message =
        format!("the call replaces {QUOTES} quotation marks in {}, and compensate fails at once", replaced[0]);
    let hint = "let the call fail before its first change if it cannot keep the earlier contents";
    report(running, message, &answer, &world, hint);
    Ok(true)
}

/// Makes the call and undoes it. Returns true if there is a finding: an entry, or a request of `compensate`, has
/// the beginning of the earlier contents alone.
async fn is_shortened(running: &mut RunningCase<'_>, world: &World, contents: &str) -> bool {
    let is_part = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.contains(&contents[..BEGINNING_BYTES]) && !text.contains(contents)
    };
    let before = world.contents();
    let Answer::Ok(done) = running.call(world, 0).await.end.answer else { return false };
    let called = world.contents();
    world.received();
    let answer = compensate(running, world, &done).await;
    if !matches!(answer, Answer::Ok(_)) {
        return false;
    }
    // An entry that the call itself added, and that remains, is no earlier one.
    let is_put_back = |name: &String| before.contains_key(name) || !called.contains_key(name);
    let mut entries = world.contents().into_iter();
    let entry = entries.find(|(name, value)| is_part(value) && is_put_back(name)).map(|(name, _)| name);
    let requests = world.received();
    let is_changed = |request: &&ReceivedRequest| request.may_change_state() && is_part(&request.body);
    let request = requests.iter().find(is_changed).map(|request| format!("{} {}", request.method, request.url));
    let Some(place) = entry.or(request) else { return false };
    let message = format!("compensate puts a part of the earlier contents back: {place}, of {} bytes", contents.len());
    let hint = "keep all of the earlier contents in the result, or let the call fail if they are too long";
    report(running, message, &answer, world, hint);
    true
}

/// Returns copies of the case in which one text of a response has the long contents.
fn with_contents(case: &ToolCase, contents: &str) -> Vec<ToolCase> {
    let mut found = Vec::new();
    for (number, canned) in case.http.iter().enumerate() {
        for pointer in texts(&canned.response.body, String::new()) {
            let mut other = case.clone();
            if let Some(text) = other.http[number].response.body.pointer_mut(&pointer) {
                *text = contents.into();
                found.push(other);
            }
        }
    }
    found.truncate(TEXTS_MAX);
    found
}

/// Returns the JSON pointers of all texts in a value.
fn texts(value: &Value, pointer: String) -> Vec<String> {
    let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::String(_) => vec![pointer],
        Value::Array(elements) => {
            elements.iter().enumerate().flat_map(|(n, element)| texts(element, format!("{pointer}/{n}"))).collect()
        }
        Value::Object(members) => {
            members.iter().flat_map(|(name, member)| texts(member, format!("{pointer}/{}", escaped(name)))).collect()
        }
        _ => vec![],
    }
}
