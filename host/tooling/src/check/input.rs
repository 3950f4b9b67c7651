//! Inputs of a check.

use latchwork_engine::capability::settings::PluginSettings;

use crate::check::case_problem::CaseProblem;
use crate::check::dynamic::{DeclarationOf, OtherProcess, RebuiltComponent};
use crate::check::history::{HistoryFile, HistoryFileError};
use crate::check::variations::KnownValues;

/// The component that is checked.
pub struct Subject<'a> {
    /// Path of the component as the user named it. Findings refer to this path.
    pub file: &'a str,
    /// Bytes of the component.
    pub bytes: &'a [u8],
    /// Settings with which the plugin would be loaded.
    pub settings: PluginSettings,
    /// True if the settings come from an entry of the configuration. Otherwise the cases declare the grants.
    pub is_configured: bool,
}

/// Additional inputs of a check.
#[derive(Default)]
pub struct CheckInputs<'a> {
    /// Path of the file of cases, as the user named it, and its contents.
    pub cases: Option<(&'a str, &'a [u8])>,
    /// Exported jobs.
    pub histories: &'a [HistoryFile],
    /// Another build of the same sources.
    pub rebuilt: Option<&'a RebuiltComponent>,
    /// Texts and numbers in the plugin's sources.
    pub known: KnownValues,
    /// Declarations of the tools that steps call. `None` if only the cases state them.
    pub declaration_of: Option<DeclarationOf<'a>>,
    /// Command line of the other process. `None` if cases run in this process only.
    pub process: Option<&'a OtherProcess>,
}

/// Reasons why nothing could be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputError {
    /// The file of cases is invalid. Contains every problem of the file.
    Cases(Vec<CaseProblem>),
    /// A file is not a valid history. Contains the path and the reason.
    History(String, HistoryFileError),
}
