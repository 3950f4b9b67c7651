//! Analyses a file from its bytes alone, without compiling or running it.
//!
//! * `file_kind` determines the kind of the file, `features` the refused WebAssembly features it uses, and
//!   `toolchain` the tools that built it. `component_info` holds the result.
//! * `worlds` contains the interfaces of `wit/`. `difference` compares a component's types with these interfaces,
//!   `compare` compares two signatures, and `type_printer` formats types as WIT. `fit` finds the world of a component.
//! * `calls` follows calls from a component's exports to its imports.
//! * `hints` gives advice to the plugin's author. `explain` adds details to the engine's refusals.
//!
//! All of these modules read untrusted input. Sizes are bounded, and no input may cause a panic.
//!
//! # Floors
//!
//! Floors, top first: `explain`, `fit`, `hints` · `difference` · `calls`, `component_info` · `toolchain` · `compare`,
//! `features`, `file_kind` · `names`, `type_printer`, `worlds`. No file imports from the engine or from the builds.

mod calls;
mod compare;
mod component_info;
mod difference;
mod explain;
mod features;
mod file_kind;
mod fit;
mod hints;
mod names;
mod toolchain;
mod type_printer;
mod worlds;

pub use calls::{CallGraph, PathFrame, Reachability};
pub use compare::TypeMismatch;
pub use component_info::{ComponentInfo, ExternItem};
pub use difference::{DifferenceKind, InterfaceDifference};
pub use explain::{EXPLAIN, explain};
pub use features::{Feature, FeatureUse};
pub use file_kind::FileKind;
pub use toolchain::{Language, Producer, ProducerToolchain};
