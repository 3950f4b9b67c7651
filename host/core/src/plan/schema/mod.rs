//! The published JSON Schema of plans.

/// JSON Schema (draft 2020-12) of a plan.
///
/// The schema covers only structure. Errors in the graph, the bindings and the effects need the whole plan or the
/// loaded plugins. Only [`super::check`] finds these errors.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests;
