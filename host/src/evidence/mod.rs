//! Additions to the core's evidence module: signing keys, proofs of people, and re-execution of components.

mod directory;
mod key;
mod person;
mod reexecute;

pub use directory::ComponentDirectory;
pub use directory::jobless_step_settings;
pub use key::{InvalidKey, SigningKey, is_valid_signature};
pub use person::{InvalidProof, check_proof};
pub use reexecute::first_withheld_label;
pub use reexecute::{MissingComponent, reexecute};
