//! Components for tests: built from source, built by hand, and changed afterwards.

pub(crate) mod bench;
pub(crate) mod built_guests;
pub(crate) mod component_builder;
pub(crate) mod component_edits;
pub(crate) mod engine;
pub(crate) mod sdk_tools;
