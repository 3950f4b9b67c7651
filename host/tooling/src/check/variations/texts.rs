//! Changes of a text.

use crate::check::variations::change::ValueChange;
use crate::check::variations::times;

/// Lengths of texts of emoji, in characters. The first one that is allowed is used.
const TEXT_LENGTHS: [usize; 4] = [300, 60, 24, 6];
/// Length of a very long text, in characters: more than an entry of the map can hold.
const LONG_TEXT: usize = 70_000;
/// Length of a long text of letters of two bytes, in characters: it has more bytes than an entry of the map can hold, but
/// not more characters.
const LONG_TEXT_OF_TWO_BYTES: usize = 40_000;
/// Numbers of parentheses around a text. The first one that is allowed is used.
const NESTINGS: [usize; 3] = [20_000, 2_000, 200];
/// Parentheses of each kind.
const PARENTHESES: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
/// Characters between operands. A text that contains one of them can be an expression.
const OPERATORS: [char; 8] = ['+', '*', '/', '=', '&', '|', '^', '!'];

/// Name of a property of every object in JavaScript. As a key of a plain object, it names a value that the step never set.
const OBJECT_PROPERTY: &str = "constructor";

/// Returns the changes of a text. Of each group, the first change that is allowed is made.
pub(super) fn of_text(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    // A step may cut a text in the middle of a character, and the result has no canonical form. An additional letter
    // moves the following characters by one byte. Two texts, with and without the letter, are therefore used. Wherever
    // the cut is, it is in the middle of a character in at least one of them.
    let emoji = |what: &str, first: &str| -> Vec<ValueChange<'static>> {
        let text = |length: usize| format!("{first}{}", "\u{1f600}".repeat(length - 1));
        TEXT_LENGTHS.iter().map(|length| ValueChange::to(what, text(*length))).collect()
    };
    let mut groups = vec![
        vec![ValueChange::to("an empty text", "")],
        emoji("a text of emoji", "\u{1f600}"),
        emoji("a text of emoji after a letter", "a"),
        vec![ValueChange::to("a blank text", " ")],
        vec![ValueChange::to("another text", format!("{text}x"))],
        vec![ValueChange::to("the name of a property that every object has", OBJECT_PROPERTY)],
        vec![ValueChange::to("a text between blanks", format!(" {text}  "))],
        vec![
            ValueChange::to("a text with characters that JSON escapes", format!("{text} \"x\" \\ \n")),
            ValueChange::to("a text of characters that JSON escapes", "\"\\"),
        ],
        vec![ValueChange::large("a very long text", "x".repeat(LONG_TEXT))],
        vec![ValueChange::large("a long text of letters of two bytes", "\u{e9}".repeat(LONG_TEXT_OF_TWO_BYTES))],
    ];
    groups.splice(1..1, times::of_text(text));
    if !text.is_empty() {
        let long: String = text.chars().cycle().take(LONG_TEXT).collect();
        groups.push(vec![ValueChange::large("a very long text of its own parts", long)]);
    }
    groups.extend(nested(text));
    groups
}

/// For each kind of parentheses in the text, returns the text within many parentheses of this kind. If the text can be
/// an expression, also returns the text after many signs.
fn nested(text: &str) -> Vec<Vec<ValueChange<'static>>> {
    let is_expression = text.contains(OPERATORS);
    let has = |open: char| text.contains(open) || open == '(' && is_expression;
    let around = |(open, close): (char, char)| -> Vec<ValueChange<'static>> {
        let many = |count: &usize| {
            let (opens, closes) = (open.to_string().repeat(*count), close.to_string().repeat(*count));
            ValueChange::large(&format!("a text in many {open}{close}"), format!("{opens}{text}{closes}"))
        };
        NESTINGS.iter().map(many).collect()
    };
    let before = |sign: char| -> Vec<ValueChange<'static>> {
        let many = |count: &usize| {
            ValueChange::large(
                &format!("a text after many {sign}"),
                format!("{}{text}", sign.to_string().repeat(*count)),
            )
        };
        NESTINGS.iter().map(many).collect()
    };
    let signs = ['-', '!'].into_iter().filter(|sign| is_expression && text.contains(*sign));
    PARENTHESES.into_iter().filter(|(open, _)| has(*open)).map(around).chain(signs.map(before)).collect()
}
