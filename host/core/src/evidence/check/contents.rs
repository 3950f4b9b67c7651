//! Checks that the stored hashes of payloads and effects are the hashes recorded in the events, and that the bytes
//! match these hashes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::read::Evidence;
use crate::evidence::record::Content;
use crate::evidence::report::{NotChecked, ProblemKind, VerifyReport};
use crate::evidence::{payloads, read};
use crate::model::effect::{Answer, Effect};
use crate::model::ids::Hash;
use crate::model::keys;
use crate::state::{Job, label};

/// A payload or effect with its label.
struct LabelledContent<'a> {
    at: u64,
    hash: Hash,
    len: u32,
    salt: Option<Hash>,
    content: &'a Content,
}

pub(super) fn check(evidence: &Evidence, job: &Job, report: &mut VerifyReport) {
    let items = items(evidence, report);
    for (label, item) in &items {
        check_content(label, item, &items, job, report);
    }
    let mut spoken_of: BTreeSet<String> = BTreeSet::new();
    for (at, event) in &evidence.events {
        for (label, reference) in payloads::references(event) {
            match items.get(&label) {
                None => {
                    let message = format!("the event refers to {label}, but the file has no record of it");
                    report.add_problem(*at, ProblemKind::Payload, message, reference.hash, "no record");
                }
                Some(item) if (item.hash, item.len) != (reference.hash, reference.len) => {
                    let message = format!("{label} differs from the reference in event {} on line {at}", event.seq);
                    let expected = format!("{} ({} bytes)", reference.hash, reference.len);
                    let found = format!("{} ({} bytes)", item.hash, item.len);
                    report.add_problem(item.at, ProblemKind::Payload, message, expected, found);
                }
                Some(_) => {}
            }
            spoken_of.insert(label);
        }
    }
    let loose: Vec<&str> = items.keys().filter(|label| !spoken_of.contains(*label)).map(String::as_str).collect();
    if !loose.is_empty() {
        let message = format!("no event refers to {}: only the sums in the file protect it", loose.join(", "));
        report.not_checked.push(NotChecked::new("unbound", message));
    }
    let unkept = items.values().filter(|item| *item.content == Content::NotKept).count();
    if unkept > 0 {
        let message = format!(
            "the arguments of {unkept} calls are not stored: their hashes are checked only if steps are executed again"
        );
        report.not_checked.push(NotChecked::new("not_kept", message));
    }
}

fn items<'a>(evidence: &'a Evidence, report: &mut VerifyReport) -> BTreeMap<String, LabelledContent<'a>> {
    let mut items = BTreeMap::new();
    let effects = evidence.effects.iter().map(|(at, effect)| {
        let (at, hash, len, salt, content) = (*at, effect.hash, effect.len, effect.salt, &effect.content);
        (label::answer(&effect.slot, effect.try_no), LabelledContent { at, hash, len, salt, content })
    });
    let payloads = evidence.payloads.iter().map(|(at, payload)| {
        let (at, hash, len, salt, content) = (*at, payload.hash, payload.len, payload.salt, &payload.content);
        (payload.label.clone(), LabelledContent { at, hash, len, salt, content })
    });
    for (label, item) in effects.chain(payloads) {
        match items.entry(label) {
            Entry::Vacant(place) => {
                place.insert(item);
            }
            Entry::Occupied(place) => {
                let message = format!("duplicate record of {}", place.key());
                report.add_problem(item.at, ProblemKind::Payload, message, "one", "another");
            }
        }
    }
    items
}

fn check_content(
    label: &str,
    item: &LabelledContent<'_>,
    items: &BTreeMap<String, LabelledContent<'_>>,
    job: &Job,
    report: &mut VerifyReport,
) {
    let mut wrong = |message: String, expected: String, found: String| {
        report.add_problem(item.at, ProblemKind::Payload, message, expected, found);
    };
    let bytes = match (item.content, item.salt) {
        (Content::Withheld, None) => return,
        (Content::Withheld, Some(_)) => {
            let message = format!("{label} is withheld but its salt is present: its value could be guessed");
            return wrong(message, "no salt".to_owned(), "a salt".to_owned());
        }
        (_, None) => return wrong(format!("{label} has no salt"), "a salt".to_owned(), "none".to_owned()),
        (Content::NotKept | Content::SameAs(_), _)
            if payloads::content_elsewhere(label, job).as_ref() != Some(item.content) =>
        {
            let expected = payloads::content_elsewhere(label, job);
            let expected = expected.map_or_else(|| "its own bytes".to_owned(), |content| format!("{content:?}"));
            return wrong(
                format!("the bytes of {label} are not where they must be"),
                expected,
                format!("{:?}", item.content),
            );
        }
        (Content::NotKept, _) => return,
        (Content::SameAs(other), _) => items.get(other).and_then(|item| shared_bytes(other, item.content)),
        (content, _) => read::bytes_of(content),
    };
    let Some(bytes) = bytes else {
        return wrong(
            format!("the bytes of {label} cannot be read"),
            "its bytes".to_owned(),
            format!("{:?}", item.content),
        );
    };
    let found = item.salt.and_then(|salt| keys::payload_ref_from_salt(&salt, &bytes));
    if found.is_none_or(|found| (found.hash, found.len) != (item.hash, item.len)) {
        let expected = format!("{} ({} bytes)", item.hash, item.len);
        let found = found.map(|found| format!("{} ({} bytes)", found.hash, found.len)).unwrap_or_default();
        wrong(format!("the bytes of {label} do not match its hash"), expected, found);
    }
}

/// Returns the bytes that a payload shares with the record labelled `other`. If this record is an answer, the payload
/// shares the bytes of the answer's result. Otherwise the payload shares all bytes of the record.
fn shared_bytes(other: &str, content: &Content) -> Option<Vec<u8>> {
    let bytes = read::bytes_of(content)?;
    if !other.starts_with("answer/") {
        return Some(bytes);
    }
    match serde_json::from_slice::<Effect>(&bytes).ok()?.answer {
        Answer::Ok(output) => Some(output.result.into_bytes()),
        _ => None,
    }
}
