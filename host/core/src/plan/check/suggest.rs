//! Suggestions for names that are not known.

/// ` (did you mean `x`?)` if one of `known` is close to `name`, else nothing.
pub(super) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match closest(name, known) {
        Some(close) => format!(" (did you mean `{close}`?)"),
        None => String::new(),
    }
}

/// Every third character may be wrong, so that short names are suggested for other case only.
fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let room = lower.chars().count() / 3;
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= room && *candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` or `c`.
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
