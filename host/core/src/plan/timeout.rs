//! Time spans of plans.

/// Parses a time span such as `500ms`, `30s`, `2m` or `1h`, and returns it in milliseconds. The range is 1 ms
/// to 24 h.
pub fn parse_timeout(text: &str) -> Option<u32> {
    let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit())?);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let number: u32 = if number.starts_with('0') { return None } else { number.parse().ok()? };
    number.checked_mul(unit_ms).filter(|span| (1..=DAY_MS).contains(span))
}

/// Maximum timeout or backoff: one day in milliseconds.
pub(crate) const DAY_MS: u32 = 24 * 60 * 60 * 1_000;
