//! Tests with untyped components built from WIT text: loading and conversion of values.

pub(crate) mod load;
pub(crate) mod made;
mod mapping;
