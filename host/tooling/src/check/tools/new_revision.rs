//! D118: an undo can add a new entry with the values from before the call. It must put all of them back.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Parts of the names of members for the person who writes an entry. An undo can have the person of the call.
const OF_UNDO: [&str; 4] = ["author", "actor", "user", "_by"];

/// Returns the new entry of an undo and a member of it that has the value of the call, although another member has the
/// value from before the call. Both values of the call are arguments of it, because a tool can compute other members, such
/// as a balance. The arguments are in `input`. The others are the contents before the call, after it, and after the undo.
pub(super) fn kept_member(
    input: &str,
    before: &BTreeMap<String, Vec<u8>>,
    called: &BTreeMap<String, Vec<u8>>,
    undone: &BTreeMap<String, Vec<u8>>,
) -> Option<(String, String)> {
    let input = object(input.as_bytes())?;
    let (of_call, of_undo) = (new_entry(before, called)?, new_entry(called, undone)?);
    let (call, undo) = (of_call.1, of_undo.1);
    let arguments: Vec<&String> =
        call.keys().filter(|name| input.contains_key(*name) && input.get(*name) == call.get(*name)).collect();
    let earlier = before.iter().rev().filter(|(name, _)| is_beside(name, of_call.0));
    let earlier: Vec<Map<String, Value>> = earlier.filter_map(|(_, content)| object(content)).collect();
    // Entries of other things can be in the same folder, and names can have another order than the entries.
    let is_whole = |one: &Map<String, Value>| arguments.iter().all(|name| undo.get(*name) == one.get(*name));
    if earlier.iter().any(is_whole) {
        return None;
    }
    // The newest entry usually has the last name.
    let newest = earlier.first()?;
    let is_changed = |name: &&&String| newest.contains_key(**name) && newest.get(**name) != call.get(**name);
    let mut changed = arguments.iter().filter(is_changed);
    changed.clone().find(|name| undo.get(**name) == newest.get(**name))?;
    let is_of_undo = |name: &str| OF_UNDO.iter().any(|part| name.contains(part));
    let kept = changed.find(|name| undo.get(**name) == call.get(**name) && !is_of_undo(name))?;
    Some((of_undo.0.clone(), (*kept).clone()))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the kept member of an undo, with entries as pairs of name and content.
    fn kept(input: &Value, before: &[(&str, Value)], call: &Value, undo: &Value) -> Option<String> {
        let of = |more: &[(&str, &Value)]| {
            let all = before.iter().map(|(name, content)| (*name, content)).chain(more.iter().copied());
            all.map(|(name, content)| (format!("map {name}"), content.to_string().into_bytes())).collect()
        };
        let (called, undone) = (of(&[("a/98", call)]), of(&[("a/98", call), ("a/99", undo)]));
        kept_member(&input.to_string(), &of(&[]), &called, &undone).map(|(_, member)| member)
    }

    #[test]
    fn an_undo_must_put_back_each_argument() {
        let (before, call) = (json!({ "text": "x", "title": "y" }), json!({ "text": "p", "title": "q" }));
        let undo = json!({ "text": "x", "title": "q" });
        assert_eq!(kept(&call, &[("a/1", before.clone())], &call, &undo).as_deref(), Some("title"));
        assert_eq!(kept(&call, &[("a/1", before.clone())], &call, &before), None);
        // The entry that is put back does not have the last name.
        assert_eq!(kept(&call, &[("a/10", before.clone()), ("a/9", undo.clone())], &call, &before), None);
        assert_eq!(kept(&call, &[("b/1", before)], &call, &undo), None);
    }

    #[test]
    fn values_that_a_tool_computes_are_not_put_back() {
        let before = json!({ "order": "o6", "amount": 100, "balance": 100 });
        let input = json!({ "order": "o7", "amount": 50 });
        let call = json!({ "order": "o7", "amount": 50, "balance": 150 });
        let undo = json!({ "order": "o7", "amount": -50, "balance": 100 });
        assert_eq!(kept(&input, &[("a/1", before)], &call, &undo), None);
    }

    #[test]
    fn an_undo_of_another_person_has_another_author() {
        let before = json!({ "text": "x", "author": "ada" });
        let call = json!({ "text": "p", "author": "mira" });
        let undo = json!({ "text": "x", "author": "mira" });
        assert_eq!(kept(&call, &[("a/1", before)], &call, &undo), None);
    }
}
