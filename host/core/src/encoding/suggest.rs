//! Suggestions of the form "did you mean …?" for unknown names, such as keys, codes, operators and steps.
//!
//! The same threshold applies everywhere (I150): at most a third of the letters of the longer name may differ.

/// Returns the candidate most similar to `word`, or `None` if no candidate is similar enough.
///
/// ```
/// use latchwork_core::encoding::suggest::most_similar;
/// assert_eq!(most_similar("databse", ["commit", "database"]), Some("database"));
/// assert_eq!(most_similar("depends", ["step_id", "depends_on"]), Some("depends_on"));
/// assert_eq!(most_similar("weather", ["commit", "database"]), None);
/// assert_eq!(most_similar("s9", ["s1", "s2"]), None, "another short name is not a typo");
/// ```
pub fn most_similar<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    similar(word, candidates).into_iter().next()
}

/// Returns all candidates similar to `word`, most similar first. Never contains `word` itself.
pub fn similar<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = word.to_lowercase();
    let letters = lower.chars().count();
    let distance = |candidate: &'a str| {
        let known = candidate.to_lowercase();
        // A larger share than a third would suggest unrelated words. A smaller share would miss swapped syllables and
        // endings.
        let farthest = letters.max(known.chars().count()) / 3;
        let distance = strsim::damerau_levenshtein(&lower, &known);
        (candidate != word && distance <= farthest).then_some((distance, candidate))
    };
    let mut found: Vec<(usize, &str)> = candidates.into_iter().filter_map(distance).collect();
    found.sort();
    found.dedup();
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns ` (did you mean …?)` or an empty text, for appending to a message.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    most_similar(word, candidates).map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default()
}

/// Returns the words as a quoted list: `a`, `b` or `c`.
pub(crate) fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I150: a name is suggested if at most a third of its letters differ. Keys of plans, recipes and configurations
    /// share this rule.
    #[test]
    fn a_third_of_the_letters_may_differ() {
        for (word, known, meant) in [
            ("EFFECTS", "effects", true),
            ("gat", "gate", true),
            ("efects", "effects", true),
            ("depends", "depends_on", true),
            ("polcy_tag", "policy_tags", true),
            ("step", "steps", true),
            ("id", "step_id", false),
            ("s9", "s1", false),
            ("name", "gate", false),
            ("gate", "gate", false),
        ] {
            assert_eq!(most_similar(word, [known]).is_some(), meant, "{word} {known}");
        }
    }

    #[test]
    fn similar_names_are_sorted_and_unique() {
        assert_eq!(similar("Mail.Sent", ["Mail.Seen", "Mail.Send", "Mail.Send"]), ["Mail.Send", "Mail.Seen"]);
    }
}
