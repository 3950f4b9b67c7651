//! D118: `compensate` must delete what the call created, or mark it as undone. An empty entry is neither.

use serde_json::Value;

use latchwork_core::model::effect::{Answer, Output};
use latchwork_core::model::ids::Hash;

use crate::check::tools::readers;
use crate::check::tools::running_case::RunningCase;
use crate::check::tools::stub_servers::ReceivedRequest;
use crate::check::tools::world::{World, WorldSnapshot};

/// Contents of entries that say nothing.
const EMPTY: [&str; 5] = ["", "{}", "[]", "null", "\"\""];

/// Returns a file of the call that `compensate` emptied. An empty entry of the map can be a mark.
pub(super) fn emptied_file<'a>(own: &'a [String], after: &WorldSnapshot, undone: &WorldSnapshot) -> Option<&'a String> {
    let empty = Some(Hash::of(&[&[]]));
    let is_empty = |state: &WorldSnapshot, name: &str| state.get(name).copied() == empty;
    own.iter().find(|name| name.starts_with('/') && is_empty(undone, name) && !is_empty(after, name))
}

/// Checks the entries that the call created and that `compensate` leaves in the map. Operators that only read must not answer
/// as after the call, and must not return an empty text for an empty entry.
pub(super) async fn check_emptied_entry(
    running: &mut RunningCase<'_>,
    world: &World,
    done: &Output,
    own: &[String],
) -> std::io::Result<()> {
    let contents = world.contents();
    let left = own.iter().filter(|name| !name.starts_with('/')).find_map(|name| Some((name, contents.get(name)?)));
    let Some((left, content)) = left.filter(|_| running.case.http.is_empty()) else { return Ok(()) };
    if running.found.iter().any(|finding| finding.rule == "D118") {
        return Ok(());
    }
    if content.is_empty() && !running.is_named_by_key(left) {
        let message = format!("compensate leaves the empty {left}, which was not there before the call");
        let finding = running.add_finding("D118", message);
        finding.hint = Some("delete every entry that the call created".to_owned());
        return Ok(());
    }
    let is_empty = EMPTY.contains(&String::from_utf8_lossy(content).trim());
    let (fresh, called) = (running.world()?, running.world()?);
    let Answer::Ok(_) = running.call(&called, 0).await.end.answer else { return Ok(()) };
    let before = readers::reading_answers(running, &fresh, &done.result).await;
    let after = readers::reading_answers(running, &called, &done.result).await;
    let undone = readers::reading_answers(running, world, &done.result).await;
    let all = || before.iter().zip(&after).zip(&undone).map(|((before, after), undone)| (before, after, undone));
    // A reader of a total or of a last number can answer as after the call.
    let mut seeing = all().filter(|(before, after, _)| before.1 != after.1).peekable();
    let is_unseen = seeing.peek().is_some() && seeing.all(|(_, after, undone)| after.1 == undone.1);
    let as_after_call = all().find(|(before, after, _)| is_unseen && before.1 != after.1);
    let with_empty = all().find(|(before, _, undone)| {
        let has_new_text = has_empty_text(&undone.1) && !has_empty_text(&before.1);
        is_empty && before.1 != undone.1 && (has_new_text || !content.is_empty())
    });
    let (message, (before, _, undone)) = match (as_after_call, with_empty) {
        (Some(found), _) => {
            (format!("compensate leaves {left}, and {} answers as if the call was not undone", found.0.0), found)
        }
        (_, Some(found)) if content.is_empty() => {
            (format!("compensate leaves the empty {left}, and {} then returns an empty text", found.0.0), found)
        }
        (_, Some(found)) => (
            format!("compensate leaves the empty {left}, and {} answers otherwise than before the call", found.0.0),
            found,
        ),
        _ => return Ok(()),
    };
    let (expected, found) = (before.1.clone(), undone.1.clone());
    let finding = running.add_finding("D118", message);
    (finding.expected, finding.found) = (Some(expected), Some(found));
    finding.hint = Some("delete every entry that the call created".to_owned());
    Ok(())
}

/// Returns the URL of an entry that the server did not have, that the call put there, and that `compensate` replaced by an
/// empty one.
pub(super) fn emptied_resource<'a>(call: &[ReceivedRequest], undoing: &'a [ReceivedRequest]) -> Option<&'a str> {
    let is_of = |method: &str, url: &str, one: &ReceivedRequest| one.method == method && one.url == url;
    let is_created = |url: &str| {
        let was_missing = call.iter().any(|one| is_of("GET", url, one) && one.status == Some(404));
        was_missing && call.iter().any(|one| is_of("PUT", url, one))
    };
    let is_empty = |body: &[u8]| {
        let is_text = |value: &Value| !value.is_object() && !value.is_array();
        let is_empty = |value: &Value| value.is_null() || value == "";
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => has_empty_text(&value.to_string()) && places(&value).filter(|one| is_text(one)).all(is_empty),
            Err(_) => body.is_empty(),
        }
    };
    let emptied = undoing.iter().find(|one| one.method == "PUT" && is_empty(&one.body) && is_created(&one.url))?;
    let is_deleted = undoing.iter().any(|one| is_of("DELETE", &emptied.url, one));
    (!is_deleted).then_some(emptied.url.as_str())
}

/// Returns true if a JSON text contains an empty text.
fn has_empty_text(json: &str) -> bool {
    let contains = |value: &Value| places(value).any(|value| value.as_str().is_some_and(str::is_empty));
    serde_json::from_str(json).is_ok_and(|value: Value| contains(&value))
}

/// Returns all values in a value.
fn places(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    let own = std::iter::once(value);
    match value {
        Value::Array(elements) => Box::new(own.chain(elements.iter().flat_map(places))),
        Value::Object(members) => Box::new(own.chain(members.values().flat_map(places))),
        _ => Box::new(own),
    }
}
