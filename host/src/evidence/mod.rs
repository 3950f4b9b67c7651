//! Additions to the core's evidence module: signing keys, and re-execution of components.

mod directory;
mod key;
mod reexecute;

pub use directory::Directory;
pub(crate) use directory::settings;
pub use key::{BadKey, SigningKey, is_signature};
pub(crate) use reexecute::unknown;
pub use reexecute::{MissingComponent, reexecute};
