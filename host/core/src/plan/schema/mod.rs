//! The published JSON Schema of plans.

/// JSON Schema (draft 2020-12) of a plan.
///
/// The schema covers only structure. Only [`super::check`] finds errors in the graph, the bindings and the effects,
/// because these checks need the whole plan or the loaded plugins.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests;
