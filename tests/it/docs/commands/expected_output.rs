//! Comparison of the output that a page shows with the output of its commands.

/// Returns the first line of `expected` that `output` lacks. The lines of `expected` must be in `output` in the same order,
/// with any lines between them. Blank lines and the number of blanks between words do not count.
pub(super) fn missing_line<'s>(output: &str, expected: &'s str) -> Option<&'s str> {
    let mut found = output.lines();
    expected.lines().filter(|line| !line.trim().is_empty()).find(|line| !found.any(|found| fits(found, line)))
}

/// Returns true if a line of output is the shown line. A number, time, id or hash matches every other value. `…` within
/// a word matches any characters, and `…` as the last word matches any words.
fn fits(found: &str, expected: &str) -> bool {
    let mut found = found.split_whitespace();
    let mut expected = expected.split_whitespace().peekable();
    while let Some(word) = expected.next() {
        if word == "…" && expected.peek().is_none() {
            return true;
        }
        if !found.next().is_some_and(|found| word_fits(&without_numbers(found), &without_numbers(word))) {
            return false;
        }
    }
    found.next().is_none()
}

fn word_fits(found: &str, expected: &str) -> bool {
    let Some((before, after)) = expected.split_once('…') else { return found == expected };
    found.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
}

/// Length of a UUID with its hyphens, in bytes.
const UUID_LEN: usize = 36;

/// Returns true for five groups of hexadecimal digits with the lengths of a UUID.
fn is_uuid(text: &str) -> bool {
    let groups = text.split('-');
    groups.clone().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && groups.map(str::len).eq([8, 4, 4, 4, 12])
}

/// Replaces each UUID, and each run of letters and digits that contains a digit, by `0`. A group of a UUID may contain
/// letters alone.
fn without_numbers(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        if rest.get(..UUID_LEN).is_some_and(is_uuid) {
            out.push('0');
            rest = &rest[UUID_LEN..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        out += if run.contains(|c: char| c.is_ascii_digit()) { "0" } else { run };
        let mark = after.chars().next();
        out.extend(mark);
        rest = &after[mark.map_or(0, char::len_utf8)..];
    }
    out
}

#[test]
fn expected_output_is_compared_without_its_numbers() {
    let output =
        "job job_01M8AKN8RNVNKC7D7KZHMQJ9R9\n  keep  Notes.Keep  succeeded in 0.041 s\n\ndone by ada at noon\n";
    let missing = |expected| missing_line(output, expected);
    assert_eq!(missing("job job_01…\nkeep Notes.Keep  succeeded in 1.2 s\n"), None);
    assert_eq!(missing("job job_01KHTQ3N5V7Y9ABCDEFGHJKMNP\n\ndone by …\n"), None);
    assert_eq!(missing("done by ada\n"), Some("done by ada"));
    assert_eq!(missing("done by ada at noon\njob job_01…\n"), Some("job job_01…"), "the order counts");
    assert_eq!(missing("keep Notes.Read succeeded in 0.041 s\n"), Some("keep Notes.Read succeeded in 0.041 s"));
    assert_eq!(missing_line("changed latch:job_01M8:keep:2\n", "changed latch:job_01…:keep:1\n"), None);
    let ids =
        ("\"id\": \"17de63ce-cdea-47d9-9533-a7085d02cc1b\",\n", "\"id\": \"e56114c2-66c1-4882-9bb7-d20c8ac0058e\",\n");
    assert_eq!(missing_line(ids.0, ids.1), None, "a group of an id may lack digits");
    assert!(missing_line("changed latch:job_01M8:send:2\n", "changed latch:job_01…:keep:1\n").is_some());
}
