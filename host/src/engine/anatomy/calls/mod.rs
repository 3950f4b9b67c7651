//! How code gets from what a component exports to what it imports.
//!
//! A component is linked on paper: `link` follows its instances as the engine would, `module` reads
//! the calls of each core module, and the search below walks from function to function, also from
//! one core module into another. Direct calls are certain; a call through a table leads to any
//! function of that type that is in the table, which the path then says.

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
    /// Its name, or its number where it has none.
    pub function: String,
    /// Whether the call to it goes through a table, so that it is one of several it may lead to.
    pub through_table: bool,
    /// Whether it has a name of its own.
    pub named: bool,
}

/// Whether an import is reached, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By this path.
    Path {
        /// The export it begins at, or none: when the component is made ready to run.
        export: Option<String>,
        /// From the first function to the one that calls the import.
        frames: Vec<Frame>,
    },
    /// No code calls it.
    Never,
    /// It cannot be told: why.
    Unknown(&'static str),
}

/// Frames shown of a path; the middle of a longer one is left out.
const SHOWN: usize = 9;

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (export, frames) = match self {
            Reach::Path { export, frames } => (export, frames),
            Reach::Never => return f.write_str("no code calls it"),
            Reach::Unknown(why) => return write!(f, "how it is reached cannot be told: {why}"),
        };
        match export {
            Some(export) => write!(f, "reached from {export}")?,
            None => f.write_str("reached while the component is made ready")?,
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
    /// Link a component on paper. One that cannot be read has no calls.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { linked: link::link(bytes) }
    }

    /// How each of these imports is reached: by interface, and function of it where one is meant.
    pub fn reach(&self, imports: &[(&str, Option<&str>)]) -> Vec<Reach> {
        match &self.linked {
            Ok(linked) => search::search(linked, imports),
            Err(why) => imports.iter().map(|_| Reach::Unknown(why)).collect(),
        }
    }
}
