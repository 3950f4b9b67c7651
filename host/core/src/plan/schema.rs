//! Schema.
/// The schema.
pub const SCHEMA: &str = "{}";
