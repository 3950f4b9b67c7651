//! Finds call paths from a component's exports to its imports.
//!
//! A component is linked statically. `link` resolves its instances as the engine would. `module` reads the
//! calls of each core module. `search` follows calls from function to function, also between core modules.
//! Direct calls are certain. A call through a table may reach any function of the same type in the table, and
//! the path marks such a call.

mod link;
mod module;
mod search;

use std::fmt;

/// The calls of a component.
pub struct Calls<'b> {
    linked: Result<link::Linked<'b>, &'static str>,
}

/// One function on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of the function, or its number if it has no name.
    pub function: String,
    /// True if the call to the function goes through a table. The call may then also reach other functions.
    pub through_table: bool,
    /// True if the function has a name of its own.
    pub named: bool,
}

/// Result of searching for a call path to an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The import is called by this path.
    Path {
        /// Export at which the path begins. `None`: the path begins at a start function, during
        /// instantiation.
        export: Option<String>,
        /// Functions from the first one to the called import.
        frames: Vec<Frame>,
    },
    /// No code calls the import.
    Never,
    /// The search was not possible. Contains the reason.
    Unknown(&'static str),
}

/// Maximum number of frames that are printed. The middle of a longer path is omitted.
const SHOWN: usize = 9;

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (export, frames) = match self {
            Reach::Path { export, frames } => (export, frames),
            Reach::Never => return f.write_str("no code calls it"),
            Reach::Unknown(why) => return write!(f, "it is unknown how it is reached: {why}"),
        };
        match export {
            Some(export) => write!(f, "reached from {export}")?,
            None => f.write_str("reached during instantiation")?,
        }
        let left_out = frames.len().saturating_sub(SHOWN);
        for (index, frame) in frames.iter().enumerate() {
            let tail = SHOWN - SHOWN / 2;
            if left_out > 0 && index == SHOWN / 2 {
                write!(f, " > ({left_out} more)")?;
            }
            if left_out > 0 && (SHOWN / 2..frames.len() - tail).contains(&index) {
                continue;
            }
            write!(f, " > {}{}", if frame.through_table { "(table) " } else { "" }, frame.function)?;
        }
        Ok(())
    }
}

impl<'b> Calls<'b> {
    /// Links a component statically. For a component that cannot be read, every search returns
    /// [`Reach::Unknown`].
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { linked: link::link(bytes) }
    }

    /// Searches for a path to each of these imports. An import is an interface, or one function of the
    /// interface.
    pub fn reach(&self, imports: &[(&str, Option<&str>)]) -> Vec<Reach> {
        match &self.linked {
            Ok(linked) => search::search(linked, imports),
            Err(why) => imports.iter().map(|_| Reach::Unknown(why)).collect(),
        }
    }
}
