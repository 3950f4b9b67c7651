//! D103: a server can show that an entry was removed later. The call happened, so `reconcile` must not deny it.

use serde_json::{Map, Value};

use latchwork_core::model::effect::Answer;
use latchwork_engine::ReconcileVerdict;

use crate::check::tools::case::ToolCase;
use crate::check::tools::lost_record::ask;
use crate::check::tools::running_case::RunningCase;

/// Parts of the words for a removal.
const REMOVAL: [&str; 9] = ["cancel", "withdr", "delet", "remov", "void", "revok", "annul", "retract", "archiv"];
/// States of a removed entry, besides those in the sources of the plugin.
const STATES: [&str; 3] = ["cancelled", "withdrawn", "deleted"];
/// Names of members that contain the state of an entry.
const STATE_NAMES: [&str; 4] = ["state", "status", "phase", "stage"];
/// Ends of the names of members that identify an entry.
const ID_NAMES: [&str; 4] = ["id", "number", "reference", "key"];
/// Maximum number of changed responses.
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

/// Returns copies of the case in which a response after the call shows an entry as removed, each with a description.
fn removed(case: &ToolCase, known: &[String]) -> Vec<(String, ToolCase)> {
    let has_removal = |text: &str| REMOVAL.iter().any(|part| text.to_lowercase().contains(part));
    let of_sources = known.iter().map(String::as_str).filter(|text| has_removal(text));
    let mut states: Vec<Value> = Vec::new();
    for state in of_sources.chain(STATES).map(Value::from) {
        if !states.contains(&state) {
            states.push(state);
        }
    }
    let mut found = Vec::new();
    for (number, canned) in case.http.iter().enumerate().filter(|(_, canned)| canned.matcher.happened == Some(true)) {
        for (pointer, name, member) in members_of_entries(&canned.response.body, String::new()) {
            let others = match member {
                Value::String(_) if STATE_NAMES.contains(&name.to_lowercase().as_str()) => states.clone(),
                Value::Bool(false) if has_removal(name) => vec![true.into()],
                _ => continue,
            };
            for other in others.into_iter().filter(|other| other != member) {
                let mut case = case.clone();
                let place = case.http[number].response.body.pointer_mut(&pointer).expect("a place of the body");
                *place = other.clone();
                found.push((format!("an entry with {name:?}: {other}"), case));
            }
        }
    }
    found.truncate(CHANGES_MAX);
    found
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
            let own = members.iter().filter(|_| is_entry(members)).map(|(name, value)| (at(name), name, value));
            let inner = members.iter().flat_map(|(name, value)| members_of_entries(value, at(name)));
            own.chain(inner).collect()
        }
        _ => vec![],
    }
}

fn is_entry(members: &Map<String, Value>) -> bool {
    members.keys().any(|name| ID_NAMES.iter().any(|end| name.to_lowercase().ends_with(end)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::tools::parse;

    #[test]
    fn entries_with_an_id_are_removed() {
        let line = json!({ "operator": "A.B", "input": {}, "http": [
            { "match": { "url": "https://a.example/x", "happened": true }, "response": { "body": {
                "status": "ok",
                "orders": [{ "id": "7", "state": "open", "cancelled": false, "paid": false }],
            } } },
            { "match": { "url": "https://a.example/x" }, "response": { "body": { "id": "7", "state": "open" } } },
        ] });
        let cases = parse(line.to_string().as_bytes()).unwrap();
        let known = ["Withdrawn".to_owned(), "cancelled".to_owned(), "open".to_owned()];
        let found = removed(&cases[0], &known);
        let entries: Vec<&Value> = found.iter().map(|(_, case)| &case.http[0].response.body["orders"][0]).collect();
        let with = |state: &str, is_cancelled: bool| json!({ "id": "7", "state": state, "cancelled": is_cancelled, "paid": false });
        let expected = [
            with("open", true),
            with("Withdrawn", false),
            with("cancelled", false),
            with("withdrawn", false),
            with("deleted", false),
        ];
        assert_eq!(entries, expected.iter().collect::<Vec<_>>());
        assert!(found.iter().all(|(_, case)| case.http[1] == cases[0].http[1]));
        assert_eq!(found[0].0, "an entry with \"cancelled\": true");
    }
}
