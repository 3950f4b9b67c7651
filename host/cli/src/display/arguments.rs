//! Formats call arguments for a person who decides about the call. Different arguments never look the same.

use serde_json::Value;

use crate::text::visible;

/// Formats the arguments. Each argument has one or more lines.
pub(crate) fn fields(args: &Value) -> Vec<String> {
    match args.as_object() {
        Some(fields) => fields.iter().flat_map(|(name, value)| field(name, value)).collect(),
        None => vec![format!("  {}", visible(&args.to_string()))],
    }
}

/// Formats one argument.
fn field(name: &str, value: &Value) -> Vec<String> {
    let name = quoted_name(name);
    let text = match value {
        Value::String(text) if is_multiline(text) => return multiline_field(&name, text),
        Value::String(text) if needs_no_quotes(text) => text.clone(),
        Value::String(text) => quoted(text),
        value => format!("{value:#}"),
    };
    if !text.contains('\n') {
        return vec![format!("  {name}: {}", visible(&text))];
    }
    let mut lines = vec![format!("  {name}:")];
    lines.extend(text.lines().map(|line| format!("    {}", visible(line))));
    lines
}

/// Returns true if the text continues after its first line end.
fn is_multiline(text: &str) -> bool {
    text.strip_suffix('\n').unwrap_or(text).contains('\n')
}

/// Formats a text with several lines. A line with invisible characters or trailing blanks is quoted.
fn multiline_field(name: &str, text: &str) -> Vec<String> {
    let (body, end) = match text.strip_suffix('\n') {
        Some(body) => (body, ", with a line end after the last one"),
        None => (text, ""),
    };
    let is_seen = |line: &str| visible(line) == line && line.trim_end() == line && !line.starts_with('"');
    let lines: Vec<&str> = body.split('\n').collect();
    let mut rendered = vec![format!("  {name}: (text of {} lines{end})", lines.len())];
    rendered.extend(lines.into_iter().map(|line| match is_seen(line) {
        true => format!("    {line}"),
        false => format!("    {}", quoted(line)),
    }));
    rendered
}

/// Returns the name of an argument. Quotes a name that looks like another part of the display.
fn quoted_name(name: &str) -> String {
    let is_plain = !name.is_empty() && visible(name) == name && name.trim() == name && !name.contains([':', '"']);
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// Returns true if the text needs no quotes: it has no invisible characters and cannot be mistaken for another value.
fn needs_no_quotes(text: &str) -> bool {
    let is_json = || text.starts_with(['"', '(']) || serde_json::from_str::<Value>(text).is_ok();
    !text.is_empty() && text.trim() == text && visible(text) == text && !is_json()
}

/// Returns the text as a JSON string with invisible characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    visible(&Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn rendered(args: &Value) -> String {
        fields(args).join("\n")
    }

    #[test]
    fn values_of_different_types_look_different() {
        let args = json!({
            "a": "1", "b": 1, "c": "", "d": null, "e": "null", "g": "{\"x\": 1}", "h": "\"q\"", "i": "two words",
        });
        let expected = [
            r#"  a: "1""#,
            "  b: 1",
            r#"  c: """#,
            "  d: null",
            r#"  e: "null""#,
            r#"  g: "{\"x\": 1}""#,
            r#"  h: "\"q\"""#,
            "  i: two words",
        ];
        assert_eq!(rendered(&args), expected.join("\n"));
        // A text that looks like an object gets a different heading than an object.
        assert_eq!(rendered(&json!({ "a": { "x": 1 } })), "  a:\n    {\n      \"x\": 1\n    }");
        let text = json!({ "a": "{\n  \"x\": 1\n}" });
        assert_eq!(rendered(&text), "  a: (text of 3 lines)\n    {\n      \"x\": 1\n    }");
        assert_eq!(rendered(&json!({ "a": "(text of 2 lines)" })), r#"  a: "(text of 2 lines)""#);
    }

    #[test]
    fn blanks_and_control_characters_are_visible() {
        let cases = [
            ("  lead", r#""  lead""#),
            ("trail ", r#""trail ""#),
            ("a\tb", r#""a\tb""#),
            ("a\rb", r#""a\rb""#),
            ("\u{1b}[2J", r#""\u001b[2J""#),
            // JSON does not escape this character, but it controls a terminal.
            ("a\u{202e}b", r#""a\u{202e}b""#),
            (r"a\u{202e}b", r"a\u{202e}b"),
            (r"C:\new", r"C:\new"),
            ("x\n", r#""x\n""#),
            ("x\r\n", r#""x\r\n""#),
            ("\n", r#""\n""#),
        ];
        for (text, expected) in cases {
            assert_eq!(rendered(&json!({ "a": text })), format!("  a: {expected}"), "{text:?}");
        }
    }

    #[test]
    fn each_line_of_a_text_is_exact() {
        let expected = "  f: (text of 2 lines, with a line end after the last one)\n    \"x\\r\"\n    y";
        assert_eq!(rendered(&json!({ "f": "x\r\ny\n" })), expected);
        assert_eq!(rendered(&json!({ "f": "x\ny" })), "  f: (text of 2 lines)\n    x\n    y");
        assert_eq!(rendered(&json!({ "f": "x \n\n\"y" })), "  f: (text of 3 lines)\n    \"x \"\n    \n    \"\\\"y\"");
    }

    #[test]
    fn names_are_not_taken_for_values() {
        let args = json!({ "a: b": "c", "": 1, "d\ne": 2, "plain name": 3 });
        assert_eq!(rendered(&args), "  \"\": 1\n  \"a: b\": c\n  \"d\\ne\": 2\n  plain name: 3");
    }

    #[test]
    fn different_texts_look_different() {
        let parts = ["", "x", " ", "\n", "\r", "\"", "\\", "1", "\t", "{}", "\\r", "(text of 2 lines)"];
        let mut seen = BTreeMap::new();
        let two = |a: &str| parts.map(|b| [a, b].concat());
        for text in parts.iter().flat_map(|a| two(a)).flat_map(|a| two(&a)) {
            let other = seen.insert(rendered(&json!({ "a": text })), text.clone());
            assert!(other.as_ref().is_none_or(|other| *other == text), "{text:?} and {other:?} look alike");
        }
    }
}
