//! The published description of plans.

/// JSON Schema (draft 2020-12) of a plan. It describes structure; what needs a view of the
/// whole plan or of the loaded plugins (graph, bindings, effects) is told by [`super::check`] alone.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests;
