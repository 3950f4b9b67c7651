//! Sentences, terms, and the share of terms that two texts have in common.

use std::collections::BTreeSet;

/// Stop words: words without information about a subject.
const STOP: &[&str] = &[
    "a", "about", "also", "an", "and", "are", "as", "at", "be", "been", "by", "can", "for", "from", "has", "have",
    "her", "his", "how", "i", "in", "into", "is", "it", "its", "more", "my", "new", "not", "of", "on", "or", "our",
    "over", "she", "such", "than", "that", "the", "their", "them", "these", "they", "this", "to", "under", "use",
    "used", "using", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "you",
    "your",
];

/// Abbreviations whose full stop does not end a sentence.
const SHORT: [&str; 13] = ["prof", "dr", "e.g", "i.e", "etc", "al", "fig", "vol", "no", "pp", "st", "ms", "mr"];

/// Splits a text into sentences.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
        let ends = word.trim_end_matches(['"', '\'', ')']).ends_with(['.', '!', '?']);
        let stem = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let initial = stem.chars().count() == 1 && !stem.chars().all(char::is_numeric);
        let goes_on = words.peek().is_some_and(|next| next.starts_with(char::is_lowercase));
        if ends && !initial && !goes_on && !SHORT.contains(&stem.as_str()) {
            sentences.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        sentences.push(current);
    }
    sentences
}

/// Returns the stems of the words of a text, without stop words.
pub fn terms(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP.contains(&word.as_str()) && (word.len() > 2 || word.chars().all(char::is_numeric)))
        .map(|word| stem(&word))
        .collect()
}

/// Returns the stem of a word. For example, `models`, `modelling` and `modelled` have the same stem. Stems are
/// approximate and serve only for comparison.
pub fn stem(word: &str) -> String {
    let cut = |suffix: &str, least: usize| word.strip_suffix(suffix).filter(|rest| rest.chars().count() >= least);
    let noun = cut("ion", 5).or_else(|| cut("ions", 5)).filter(|rest| rest.ends_with('t'));
    let rest = if let Some(rest) = noun {
        rest
    } else if let Some(rest) = cut("ies", 3) {
        return format!("{rest}y");
    } else if let Some(rest) = cut("sses", 2) {
        return format!("{rest}ss");
    } else if let Some(rest) = cut("ing", 4).or_else(|| cut("ed", 4)) {
        rest
    } else if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word.to_owned();
    } else if let Some(rest) = cut("s", 3) {
        return rest.trim_end_matches('e').to_owned();
    } else {
        return word.trim_end_matches('e').to_owned();
    };
    // Reduces a doubled last letter to one. `modelling` then matches `model`, and `running` matches `run`.
    let mut letters: Vec<char> = rest.chars().collect();
    if let [.., a, b] = letters[..]
        && a == b
        && b != 's'
    {
        letters.pop();
    }
    String::from_iter(letters).trim_end_matches('e').to_owned()
}

/// Returns the share of the terms of `phrase` that `text` contains, from 0 to 1.
pub fn share(phrase: &str, text: &str) -> f64 {
    let wanted: BTreeSet<String> = terms(phrase).into_iter().collect();
    if wanted.is_empty() {
        return 0.0;
    }
    let there: BTreeSet<String> = terms(text).into_iter().collect();
    wanted.intersection(&there).count() as f64 / wanted.len() as f64
}

/// Returns the number of words.
pub fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_split_at_real_sentence_ends() {
        let text = "Prof. A. Lind studies snow, e.g. in the Alps. Does it melt? Yes! See Fig. 2 (2025).";
        assert_eq!(
            sentences(text),
            ["Prof. A. Lind studies snow, e.g. in the Alps.", "Does it melt?", "Yes!", "See Fig. 2 (2025)."]
        );
        assert_eq!(sentences("no end"), ["no end"]);
        assert!(sentences("  ").is_empty());
    }

    #[test]
    fn forms_of_one_word_have_equal_stems() {
        for (a, b) in [
            ("assimilation", "assimilated"),
            ("models", "modelling"),
            ("glacier", "glaciers"),
            ("studies", "study"),
            ("processes", "process"),
            ("data", "data"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_ne!(stem("snow"), stem("ice"));
        assert_eq!(stem("analysis"), "analysis");
    }

    #[test]
    fn share_ignores_stop_words() {
        assert!((share("snow hydrology", "The hydrology of snow") - 1.0).abs() < 1e-9);
        assert!((share("snow hydrology", "Snow is white") - 0.5).abs() < 1e-9);
        assert!(share("the of and", "the of and").abs() < 1e-9);
    }
}
