//! Other numbers within a text.

use std::ops::Range;

use serde_json::Value;

use crate::check::variations::change::ValueChange;

/// Texts that replace a number within a text. Parsers of numbers accept all of them, in some languages. The last one is the
/// least integer that a double does not hold.
const NUMERALS: [&str; 6] = ["nan", "-1", "inf", "0", "1e400", "9007199254740993"];
/// Maximum number of places of a text at which numbers are replaced.
const PLACES: usize = 2;

/// Returns the text with another number in place of its first number, and in place of its last number.
pub(super) fn of_numerals(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    let numerals = numerals(text);
    let mut places: Vec<&Range<usize>> = numerals.iter().rev().take(1).chain(numerals.first()).take(PLACES).collect();
    places.dedup();
    let other = |numeral: &&str, place: &Range<usize>| {
        let changed: Value = format!("{}{numeral}{}", &text[..place.start], &text[place.end..]).into();
        vec![ValueChange::to(format!("{numeral:?} for {:?} in the text", &text[place.clone()]), changed)]
    };
    NUMERALS.iter().flat_map(|numeral| places.iter().map(move |place| other(numeral, place))).collect()
}

/// Returns the places of the decimal numbers in a text. A number that follows a letter is part of a name.
fn numerals(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut before = ' ';
    for (start, c) in text.char_indices() {
        let is_within = found.last().is_some_and(|last| start < last.end);
        if !is_within && c.is_ascii_digit() && !before.is_alphanumeric() {
            let length = text[start..].find(|c: char| !(c.is_ascii_digit() || c == '.'));
            let end = length.map_or(text.len(), |length| start + length);
            found.push(start..start + text[start..end].trim_end_matches('.').len());
        }
        before = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let first = |group: Vec<ValueChange<'static>>| {
            group.into_iter().next().unwrap().into_value().unwrap().as_str().unwrap().to_owned()
        };
        of_numerals(text).into_iter().map(first).collect()
    }

    #[test]
    fn first_and_last_number_are_replaced() {
        let found = texts("tank 1: 66.5, P2.");
        assert_eq!(found[..2], ["tank 1: nan, P2.", "tank nan: 66.5, P2."]);
        assert_eq!(found.len(), 2 * NUMERALS.len());
        assert_eq!(texts("7")[0], "nan");
        assert_eq!(texts("7").len(), NUMERALS.len());
        assert!(texts("B12 north").is_empty());
    }
}
