//! Rules that look at the component. None of its steps is run; `describe` is.

mod manifest;
mod refused;

use std::sync::Arc;

use super::finding::Finding;
use crate::engine::{LoadError, Outline, Plugin, Problem};

/// A component, as static rules see it.
pub struct Examined<'a> {
    /// Its file: findings point there.
    pub file: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Imports and exports, also of one that is refused; why there are none otherwise.
    pub outline: Result<Outline, Problem>,
    /// What came of loading it.
    pub loaded: &'a Result<Arc<Plugin>, LoadError>,
}

/// A static rule: everything in the component that breaks it.
type Run = fn(&Examined<'_>) -> Vec<Finding>;

/// Each looks by itself.
const RUNS: &[Run] = &[refused::run, manifest::run];

/// What breaks a static rule.
pub(super) fn run(component: &Examined<'_>) -> Vec<Finding> {
    RUNS.iter().flat_map(|run| run(component)).collect()
}
