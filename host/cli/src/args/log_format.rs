//! Formats of log lines.

use clap::ValueEnum;

/// Formats of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object per line
    Json,
}
