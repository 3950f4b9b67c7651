//! Tools for plugin authors: inspection, builds and checks of plugins, and histories. No module of this crate runs
//! inside a worker.
//!
//! # Floors
//!
//! The modules form floors. A file imports only from its own floor and from lower floors, and no files import each
//! other in a circle. The test `floors` checks both rules. [`inspect`] reads the bytes of a component and uses no
//! WebAssembly engine.
//!
//! | floor | content |
//! |---|---|
//! | [`check`], [`schemas`] | checks of plugins, and the published JSON schemas |
//! | [`history`] | exported histories that tests play on a plugin |
//! | [`build`], [`inspect`] | builds of plugins, and reading of component files |
//! | [`units`] | formatting of quantities for display |

pub mod build;
pub mod check;
pub mod history;
pub mod inspect;
pub mod schemas;
pub mod units;
