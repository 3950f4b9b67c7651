//! canon

/// Placeholder until the module is written.
pub fn value_to_canonical(value: &serde_json::Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("a value is plain data")
}
