//! Call paths from an export to an import.

use std::fmt;

/// One function on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFrame {
    /// Name of the function, or its number if it has no name.
    pub function: String,
    /// True if the call to the function goes through a table. The call may then also reach other functions.
    pub through_table: bool,
    /// True if the file contains a name for the function itself. False if `function` is the name of an export or a
    /// number.
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
        /// Functions in the order of the calls. The last function is the import.
        frames: Vec<PathFrame>,
    },
    /// No code calls the import.
    Never,
    /// The search was not possible. Contains the reason.
    Unknown(&'static str),
}

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

/// Maximum number of frames that are printed. The middle of a longer path is omitted.
const FRAMES_PRINTED_MAX: usize = 9;
