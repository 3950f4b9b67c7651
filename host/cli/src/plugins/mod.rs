//! The plugins of a configuration: loading, admission of plans, builds, and facts about them.
//!
//! Floors, top first: `admission` · `build`, `catalog`, `effect_verifier`, `ineffective_settings`, `needed_grants`,
//! `ungated`.

pub(crate) mod admission;
pub(crate) mod build;
pub(crate) mod catalog;
pub(crate) mod effect_verifier;
pub(crate) mod ineffective_settings;
pub(crate) mod needed_grants;
pub(crate) mod ungated;
