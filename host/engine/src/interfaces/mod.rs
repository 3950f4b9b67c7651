//! Interfaces of plugins, as the engine and the inspection of components need them.
//!
//! * `imports` decides which imports a plugin may have. `virtual_wasi` lists the interfaces of virtual WASI.
//! * `names` reads the names of imports and exports from the bytes of a component.
//! * `problem` lists the reasons for which a plugin is refused.
//! * `package` is the package of the interfaces that this host serves, and `wit` their text.
//!
//! Floors, top first: `imports` · `names`, `package`, `problem`, `virtual_wasi`, `wit`.

pub mod imports;
pub mod names;
pub mod package;
pub(crate) mod virtual_wasi;
pub mod wit;

mod problem;

pub use problem::{Explain, PluginProblem};
