//! Entries that the call replaced and that `compensate` does not put back.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::check::tools::running_case::RunningCase;
use crate::check::tools::world::WorldSnapshot;

/// Times of the years 2001 to 2096, in seconds since 1970.
const TIMES_S: std::ops::Range<i64> = 1_000_000_000..4_000_000_000;

/// The call of a case, and another call with equal arguments after it.
pub(super) struct TwoCalls {
    /// State after the first call.
    pub(super) first: WorldSnapshot,
    /// State after both calls.
    pub(super) both: WorldSnapshot,
}

pub(super) async fn call_twice(running: &mut RunningCase<'_>) -> std::io::Result<TwoCalls> {
    let world = running.world()?;
    running.call(&world, 0).await;
    let first = world.state();
    running.call_with(&world, running.context_of_other_call(), false).await;
    Ok(TwoCalls { first, both: world.state() })
}

/// Returns the entries that belong to the call alone. The call created them, and the same call under another key does
/// not change them. A counter, for example, belongs to all calls.
pub(super) fn own_entries(before: &WorldSnapshot, after: &WorldSnapshot, two: &TwoCalls) -> Vec<String> {
    let is_own = |name: &&String| !before.contains_key(*name) && two.both.get(*name) == two.first.get(*name);
    after.keys().filter(is_own).cloned().collect()
}

/// Returns an entry that the call replaced and that the undo does not put back: a text or a list that is not as before, or any
/// content that is still as the call wrote it. An undo can append to the contents, or add a new entry.
pub(super) fn not_restored(
    earlier: &BTreeMap<String, Vec<u8>>,
    called: &BTreeMap<String, Vec<u8>>,
    two: &TwoCalls,
    undone: &BTreeMap<String, Vec<u8>>,
) -> Option<String> {
    let added: Vec<&String> =
        undone.keys().filter(|name| !called.contains_key(*name) && !earlier.contains_key(*name)).collect();
    let mut replaced = earlier.iter().filter_map(|(name, before)| {
        let (called, undone) = (called.get(name)?, undone.get(name)?);
        // An undo can count itself in an entry that the call leaves as it is.
        (undone != before && (called != before || undone.len() < before.len()))
            .then_some((name, before, called, undone))
    });
    let found = replaced.find(|(name, before, called, undone)| match undone == called {
        // An entry that each call changes, such as a counter, can stay, and so can the time of the last change.
        true => {
            added.is_empty() && two.both.get(*name) == two.first.get(*name) && !(is_time(before) && is_time(called))
        }
        false => {
            let is_whole =
                is_object(before) || is_object(undone) || is_longer(undone, before) || is_same(before, undone);
            !(is_whole || names_one_of(undone, &added) || is_time(before) && is_time(undone))
        }
    });
    found.map(|(name, ..)| name.clone())
}

fn is_object(contents: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(contents).is_ok()
}

fn is_longer(undone: &[u8], before: &[u8]) -> bool {
    let list = |contents: &[u8]| serde_json::from_slice::<Vec<Value>>(contents).ok();
    match (list(undone), list(before)) {
        (Some(undone), Some(before)) => undone.len() > before.len() && undone.starts_with(&before),
        _ => undone.len() > before.len() && !before.is_empty() && undone.starts_with(before),
    }
}

/// Returns true if the contents are one JSON value in two forms.
fn is_same(before: &[u8], undone: &[u8]) -> bool {
    let value = |contents: &[u8]| serde_json::from_slice::<Value>(contents).ok();
    value(before).is_some_and(|before| Some(before) == value(undone))
}

/// Returns true if the contents are a time: seconds since 1970 or parts of them as a number, or a time as in RFC 3339.
fn is_time(contents: &[u8]) -> bool {
    let text = str::from_utf8(contents).unwrap_or_default().trim_matches('"');
    let is_number = [1, 1_000, 1_000_000, 1_000_000_000]
        .iter()
        .any(|unit| text.parse::<i64>().is_ok_and(|number| TIMES_S.contains(&(number / unit))));
    let mut kinds = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    is_number || b"0000-00-00T00:00:00".iter().all(|kind| kinds.next() == Some(*kind))
}

/// Returns true if the contents contain the name of an entry that the undo added, as those of an entry that names the newest
/// one of others do.
fn names_one_of(contents: &[u8], added: &[&String]) -> bool {
    let text = String::from_utf8_lossy(contents);
    // A name has the kind of the entry before it.
    added.iter().any(|name| name.split_once(' ').is_some_and(|(_, key)| text.contains(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tools::world::snapshot;

    #[test]
    fn contents_that_an_undo_leaves_otherwise_are_named() {
        let contents = |text: &str| BTreeMap::from([("map a".to_owned(), text.as_bytes().to_vec())]);
        let is_found = |[before, called, undone]: [&str; 3], after_both: &str| {
            let (called, both) = (contents(called), contents(after_both));
            let two = TwoCalls { first: snapshot(&called), both: snapshot(&both) };
            not_restored(&contents(before), &called, &two, &contents(undone)).is_some()
        };
        for [before, called, undone] in [
            ["come in", "stay", "come"],
            ["come in", "stay", "stay"],
            ["3", "0", "5"],
            ["red,urgent", "red,urgent", "red"],
            ["[1,2]", "[1,2,3]", "[2,3]"],
        ] {
            assert!(is_found([before, called, undone], called), "{before} {called} {undone}");
        }
        // The contents are put back or continued, the undo counts itself, or the members of objects are compared elsewhere.
        for [before, called, undone] in [
            ["come in", "stay", "come in"],
            ["a", "ab", "abc"],
            ["[1]", "[1,2]", "[1,2,3]"],
            ["0", "0", "1"],
            ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"],
        ] {
            assert!(!is_found([before, called, undone], called), "{before} {called} {undone}");
        }
        // Each call changes a counter or a time.
        assert!(!is_found(["5", "6", "6"], "7"));
        assert!(!is_found(["1767000000", "1767603600", "1767603600"], "1767603600"));
        assert!(is_found(["1000", "1001", "1001"], "1001"));
        // An equal value has another form.
        assert!(!is_found(["[1, 2]", "[3]", "[1,2]"], "[3]"));
    }
}
