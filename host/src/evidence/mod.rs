//! What evidence needs beyond the pure kernel: keys that sign, and components that run again.

mod directory;
mod key;
mod reexecute;

pub use directory::Directory;
pub(crate) use directory::settings;
pub use key::{BadKey, SigningKey, is_signature};
pub(crate) use reexecute::unknown;
pub use reexecute::{MissingComponent, reexecute};
