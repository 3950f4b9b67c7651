//! D103: a server can show that an entry was removed later. The call happened, so `reconcile` must not deny it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use latchwork_core::model::effect::Answer;
use latchwork_engine::ReconcileVerdict;

use crate::check::tools::case::{CannedResponse, ToolCase};
use crate::check::tools::lost_record::ask;
use crate::check::tools::running_case::RunningCase;

/// Starts of the words for a removal.
const REMOVAL: [&str; 9] = ["cancel", "withdr", "delet", "remov", "void", "revok", "annul", "retract", "archiv"];
/// States of a removed entry, besides those in the sources of the plugin.
const STATES: [&str; 3] = ["cancelled", "withdrawn", "deleted"];
/// Names of members that contain the state of an entry.
const STATE_NAMES: [&str; 4] = ["state", "status", "phase", "stage"];
/// Last words of the names of members that identify an entry.
const ID_WORDS: [&str; 4] = ["id", "number", "reference", "key"];
/// Maximum number of members that are changed, and of changed responses.
const MEMBERS_MAX: usize = 64;
const CHANGES_MAX: usize = 24;

/// Asks about a call that happened, while the servers show its entry as removed.
pub(super) async fn run(running: &mut RunningCase<'_>) -> std::io::Result<()> {
    let is_asked = running.tools.plugin.reconcile && running.spec.is_world_changing() && running.case.error.is_none();
    let is_found = running.found.iter().any(|finding| ["D103", "D104"].contains(&finding.rule));
    if !is_asked || is_found || running.case.http.is_empty() {
        return Ok(());
    }
    let world = running.world()?;
    running.call(&world, 0).await;
    if !matches!(ask(running, &world).await, Ok(ReconcileVerdict::Happened(_))) {
        return Ok(());
    }
    for (what, case) in removed(running.case, running.tools.known.texts()) {
        let world = running.world_of(&case)?;
        let is_made = matches!(running.call(&world, 0).await.end.answer, Answer::Ok(_));
        if is_made && matches!(ask(running, &world).await, Ok(ReconcileVerdict::DidNotHappen)) {
            let message = format!("the server shows {what}, and reconcile denies the call that happened");
            let finding = running.add_finding("D103", message);
            finding.expected = Some("happened or unknown".to_owned());
            finding.found = Some("did-not-happen: the host would execute the call a second time".to_owned());
            finding.hint = Some("an entry that was removed later was made: answer happened or unknown".to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Returns copies of the case in which a response after the call shows an entry as removed, each with a description. A
/// member that already shows a removal stays, before the call or after it: the call itself can remove or restore.
fn removed<'c>(case: &'c ToolCase, known: &'c [String]) -> impl Iterator<Item = (String, ToolCase)> + 'c {
    let states = states(known);
    let (after, before): (Vec<_>, Vec<_>) =
        case.http.iter().enumerate().partition(|(_, canned)| canned.matcher.happened == Some(true));
    let removed_before: BTreeSet<&String> = before
        .iter()
        .flat_map(|(_, canned)| members_of_entries(&canned.response.body, String::new()))
        .filter(|(_, name, value)| is_removed(name, value))
        .map(|(_, name, _)| name)
        .collect();
    let of_response = |(number, canned): (usize, &'c CannedResponse)| {
        let members = members_of_entries(&canned.response.body, String::new()).into_iter();
        members.map(move |(pointer, name, value)| (number, pointer, name, value))
    };
    let is_changed = |(_, _, name, value): &(usize, String, &String, &Value)| {
        !removed_before.contains(name) && !is_removed(name, value)
    };
    let members: Vec<(usize, String, &String, Vec<Value>)> = after
        .into_iter()
        .flat_map(of_response)
        .filter(is_changed)
        .filter_map(|(number, pointer, name, value)| match value {
            Value::String(_) if is_state(name) => Some((number, pointer, name, states.clone())),
            Value::Bool(false) if has_removal(name) => Some((number, pointer, name, vec![true.into()])),
            _ => None,
        })
        .take(MEMBERS_MAX)
        .collect();
    // First one change of each member.
    let all = (0..states.len()).flat_map(move |turn| {
        let with_turn = |(number, pointer, name, others): &(usize, String, &String, Vec<Value>)| {
            let other = others.get(turn)?.clone();
            Some((*number, pointer.clone(), format!("an entry with {name:?}: {other}"), other))
        };
        members.iter().filter_map(with_turn).collect::<Vec<_>>()
    });
    all.take(CHANGES_MAX).map(|(number, pointer, what, other)| {
        let mut case = case.clone();
        *case.http[number].response.body.pointer_mut(&pointer).expect("a place of the body") = other;
        (what, case)
    })
}

/// Returns the states of a removed entry: words of the sources, then usual ones.
fn states(known: &[String]) -> Vec<Value> {
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    let of_sources = known.iter().map(String::as_str);
    let of_sources = of_sources.filter(|text| is_word(text) && *text != "DELETE" && has_removal(text));
    let mut states: Vec<Value> = Vec::new();
    for state in of_sources.chain(STATES).map(Value::from) {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    states
}

fn is_state(name: &str) -> bool {
    words(name).last().is_some_and(|last| STATE_NAMES.contains(&last.as_str()))
}

/// Returns true if a member shows that its entry was removed.
fn is_removed(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_state(name) && has_removal(text),
        Value::Bool(value) => *value && has_removal(name),
        _ => false,
    }
}

/// Returns true if a word of a text is one for a removal, such as `cancelled`, and not `cancellable`.
fn has_removal(text: &str) -> bool {
    let is_removal = |word: &String| REMOVAL.iter().any(|start| word.starts_with(start)) && !word.ends_with("able");
    words(text).iter().any(is_removal)
}

/// Returns the words of a name such as `orderId` or `order_id`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && is_after_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("at least one word").extend(c.to_lowercase());
        }
        is_after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the members of all objects in a value that have a member that identifies them: pointer, name and value.
fn members_of_entries(value: &Value, pointer: String) -> Vec<(String, &String, &Value)> {
    let at = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Array(elements) => {
            let of_element = |(number, element)| members_of_entries(element, format!("{pointer}/{number}"));
            elements.iter().enumerate().flat_map(of_element).collect()
        }
        Value::Object(members) => {
            let is_entry = is_entry(members);
            let own = members.iter().filter(|_| is_entry).map(|(name, value)| (at(name), name, value));
            let inner = members.iter().flat_map(|(name, value)| members_of_entries(value, at(name)));
            own.chain(inner).collect()
        }
        _ => vec![],
    }
}

fn is_entry(members: &Map<String, Value>) -> bool {
    members.keys().any(|name| words(name).last().is_some_and(|last| ID_WORDS.contains(&last.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::tools::parse;

    fn removed_of(http: &Value, known: &[&str]) -> (ToolCase, Vec<(String, ToolCase)>) {
        let line = json!({ "operator": "A.B", "input": {}, "http": http });
        let case = parse(line.to_string().as_bytes()).unwrap().remove(0);
        let known: Vec<String> = known.iter().map(|text| (*text).to_owned()).collect();
        let found = removed(&case, &known).collect();
        (case, found)
    }

    #[test]
    fn entries_with_an_id_are_removed() {
        let http = json!([
            { "match": { "url": "https://a.example/x", "happened": true }, "response": { "body": {
                "status": "ok", "paid": true,
                "orders": [{ "orderId": "7", "order_state": "open", "cancelled": false, "cancellable": false }],
            } } },
            { "match": { "url": "https://a.example/x" }, "response": { "body": { "id": "7", "order_state": "open" } } },
        ]);
        let known = ["Withdrawn", "cancelled", "open", "Orders.Cancel", "DELETE", "cannot be removed"];
        let (case, found) = removed_of(&http, &known);
        let entries: Vec<&Value> = found.iter().map(|(_, case)| &case.http[0].response.body["orders"][0]).collect();
        let with = |state: &str, is_cancelled: bool| json!({ "orderId": "7", "order_state": state, "cancelled": is_cancelled, "cancellable": false });
        let expected = [
            with("open", true),
            with("Withdrawn", false),
            with("cancelled", false),
            with("withdrawn", false),
            with("deleted", false),
        ];
        assert_eq!(entries, expected.iter().collect::<Vec<_>>());
        assert!(found.iter().all(|(_, other)| other.http[1] == case.http[1]));
        assert_eq!(found[0].0, "an entry with \"cancelled\": true");
    }

    #[test]
    fn calls_that_remove_or_restore_an_entry_are_left_out() {
        let canned = |happened: bool, body: &Value| json!({ "match": { "url": "https://a.example/x", "happened": happened }, "response": { "body": body } });
        let (open, closed) = (json!({ "id": 7, "state": "open" }), json!({ "id": 7, "state": "cancelled" }));
        for [before, after] in [[&open, &closed], [&closed, &open]] {
            assert_eq!(removed_of(&json!([canned(false, before), canned(true, after)]), &[]).1.len(), 0);
        }
        assert_eq!(removed_of(&json!([canned(false, &Value::Null), canned(true, &open)]), &[]).1.len(), 3);
    }

    #[test]
    fn changes_of_a_long_list_are_few() {
        let orders: Vec<Value> = (0..1_000).map(|id| json!({ "id": id, "state": "open" })).collect();
        let http =
            json!([{ "match": { "url": "https://a.example/x", "happened": true }, "response": { "body": orders } }]);
        let (_, found) = removed_of(&http, &[]);
        assert_eq!(found.len(), CHANGES_MAX);
        assert_eq!(found[23].1.http[0].response.body[23]["state"], "cancelled");
    }
}
