//! Tests with untyped components built from WIT text: loading and conversion of values.

pub(crate) mod component_builder;
mod edges;
pub(crate) mod load;
mod mapping;
