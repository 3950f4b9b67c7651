//! "Did you mean …?" for keys, codes and words.

/// The candidate nearest to `word`, if one is near enough to be what was meant.
///
/// ```
/// assert_eq!(latchwork::suggest::nearest("databse", ["commit", "database"]), Some("database"));
/// assert_eq!(latchwork::suggest::nearest("weather", ["commit", "database"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(word, candidates).into_iter().next()
}

/// All candidates near to `word`, the nearest first.
pub fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = word.to_lowercase();
    // A third of the letters may differ: more is another word, less misses swapped syllables.
    let farthest = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= farthest)
        .collect();
    found.sort();
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// ` (did you mean …?)`, or nothing: to be appended to a message.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default()
}
