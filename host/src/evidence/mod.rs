//! Additions to the core's evidence module: signing keys, and re-execution of components.

mod directory;
mod key;
mod reexecute;

pub use directory::ComponentDirectory;
pub use directory::jobless_step_settings;
pub use key::{InvalidKey, SigningKey, is_valid_signature};
pub use reexecute::first_withheld_label;
pub use reexecute::{MissingComponent, reexecute};
