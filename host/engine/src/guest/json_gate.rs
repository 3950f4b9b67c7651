//! The rules for JSON that leaves a guest: events and outputs of steps and results of tools need a canonical form, like
//! the arguments of calls.

use serde_json::Value;

use latchwork_core::encoding::canon::CanonErrorKind;
use latchwork_core::encoding::{canon, truncate};
use latchwork_core::model::bounds;

/// Part of the message about a JSON text without a canonical form. The checker of plugins recognizes the reason by this
/// part.
pub const NO_CANONICAL_FORM: &str = "has no canonical form";
/// Part of the message about an answer with more changes of the world than an answer may have.
pub const TOO_MANY_CHANGES: &str = "state changes; at most";
/// Start of the message about an answer that its schema does not allow.
pub const OUTSIDE_SCHEMA: &str = "the answer does not fit its schema";

/// Parses a text. `what` is the name of the text in the message. The message has a bounded length, because it can
/// contain a key of the text.
///
/// # Errors
/// The text is not JSON or has no canonical form. The message contains the byte offset.
pub(crate) fn parse(what: &str, text: &str) -> Result<Value, String> {
    canon::parse_strict(text.as_bytes()).map_err(|error| {
        let message = match error.refusal {
            CanonErrorKind::Syntax(_) => format!("{what} is not JSON: {error}"),
            _ => format!("{what} {NO_CANONICAL_FORM}: {error}"),
        };
        truncate::at_bytes(&message, bounds::MESSAGE_BYTES).start.to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I252: the message about a repeated key can contain a key of any length.
    #[test]
    fn message_about_a_text_has_a_bounded_length() {
        let twice = |key: usize| {
            let key = "k".repeat(key);
            parse("it", &format!(r#"{{"{key}":1,"{key}":2}}"#)).unwrap_err()
        };
        let rest = twice(1_000).len() - 1_000;
        let longest = twice(bounds::MESSAGE_BYTES - rest);
        assert!(longest.len() == bounds::MESSAGE_BYTES && longest.ends_with("keep one of them"), "{longest}");
        assert_eq!(twice(1 << 20).len(), bounds::MESSAGE_BYTES);
    }

    /// I217: each reason is named with its place.
    #[test]
    fn texts_without_canonical_form_are_refused_with_the_place() {
        for good in [r#"{"v":1,"w":[1.5,null,"\u00e9\ud83d\ude00"]}"#, "1e300", "9007199254740992", "0"] {
            assert!(parse("it", good).is_ok(), "{good}");
        }
        let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
        for (bad, reason) in [
            (r#"{"v":1,"v":2}"#, "at byte 7: the key \"v\" appears twice"),
            (r#"{"v":{"\u0061":1,"a":2}}"#, "the key \"a\" appears twice"),
            (r#"{"x":1e400}"#, "at byte 5: the number 1e400 is beyond the range"),
            (r#"{"x":9007199254740993}"#, "at byte 5: the integer 9007199254740993 cannot be held exactly"),
            (r#"{"x":"\ud800"}"#, "half of a surrogate pair"),
            (&deep, "nested deeper than 64 levels"),
        ] {
            let why = parse("it", bad).unwrap_err();
            assert!(why.starts_with("it has no canonical form: at byte ") && why.contains(reason), "{bad}: {why}");
        }
        for bad in ["", "NaN", "{", "1 2"] {
            assert!(parse("it", bad).unwrap_err().starts_with("it is not JSON: at byte "), "{bad}");
        }
    }
}
