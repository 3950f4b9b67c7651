//! JSON pointers (RFC 6901).

/// Returns true if `text` is a JSON pointer: empty, or a sequence of tokens that each start with `/`. In a token, `~`
/// occurs only as `~0` or `~1`.
pub fn is_pointer(text: &str) -> bool {
    let starts_well = text.is_empty() || text.starts_with('/');
    starts_well && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// Returns the pointer to the field `key` of the object at `parent`.
pub fn child(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns the unescaped tokens of a valid pointer.
pub(crate) fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// Parses a token as an array index: digits without a leading zero.
pub(crate) fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { token.parse().ok() } else { None }
}
