//! Finds call paths from a component's exports to its imports.
//!
//! `link` links a component statically, as the engine would. `module` reads the calls of each core module. `search`
//! follows calls from function to function, also between core modules.
//!
//! The target of a direct call is known. A call through a table may reach any function of the same type in the table.
//! The path therefore marks such a call.

mod link;
mod module;
mod search;

use std::fmt;

/// The calls of a component.
pub struct CallGraph<'b> {
    linked: Result<link::LinkedComponent<'b>, &'static str>,
}

/// One function on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFrame {
    /// Name of the function, or its number if it has no name.
    pub function: String,
    /// True if the call to the function goes through a table. The call may then also reach other functions.
    pub through_table: bool,
    /// True if the function has a name of its own.
    pub named: bool,
}

/// Result of searching for a call path to an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reachability {
    /// A chain of calls leads to the import.
    Path {
        /// Export at which the path begins. `None`: the path begins at a start function, during
        /// instantiation.
        export: Option<String>,
        /// Functions in the order of the calls. The last one is the import.
        frames: Vec<PathFrame>,
    },
    /// No code calls the import.
    Never,
    /// The search was not possible. Contains the reason.
    Unknown(&'static str),
}

/// Maximum number of frames that are printed. The middle of a longer path is omitted.
const FRAMES_PRINTED_MAX: usize = 9;

impl fmt::Display for Reachability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (export, frames) = match self {
            Reachability::Path { export, frames } => (export, frames),
            Reachability::Never => return f.write_str("no code calls it"),
            Reachability::Unknown(why) => return write!(f, "it is unknown how it is reached: {why}"),
        };
        match export {
            Some(export) => write!(f, "reached from {export}")?,
            None => f.write_str("reached during instantiation")?,
        }
        let left_out = frames.len().saturating_sub(FRAMES_PRINTED_MAX);
        for (index, frame) in frames.iter().enumerate() {
            let tail = FRAMES_PRINTED_MAX - FRAMES_PRINTED_MAX / 2;
            if left_out > 0 && index == FRAMES_PRINTED_MAX / 2 {
                write!(f, " > ({left_out} more)")?;
            }
            if left_out > 0 && (FRAMES_PRINTED_MAX / 2..frames.len() - tail).contains(&index) {
                continue;
            }
            write!(f, " > {}{}", if frame.through_table { "(table) " } else { "" }, frame.function)?;
        }
        Ok(())
    }
}

impl<'b> CallGraph<'b> {
    /// Links a component statically. For a component that cannot be read, every search returns
    /// [`Reachability::Unknown`].
    pub fn link(bytes: &'b [u8]) -> Self {
        Self { linked: link::link(bytes) }
    }

    /// Searches for a path to each of these imports. An import is an interface, or one function of the
    /// interface.
    pub fn find_paths(&self, imports: &[(&str, Option<&str>)]) -> Vec<Reachability> {
        match &self.linked {
            Ok(linked) => search::search(linked, imports),
            Err(why) => imports.iter().map(|_| Reachability::Unknown(why)).collect(),
        }
    }
}
