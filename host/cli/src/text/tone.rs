//! Tones of text, and spans of safe text.

use anstyle::{AnsiColor, Style};

/// Meaning of a piece of text, shown as a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A heading.
    Title,
    /// A success.
    Good,
    /// A fact that needs attention.
    Attention,
    /// A failure.
    Bad,
    /// A less important fact.
    Quiet,
}

impl Tone {
    /// Returns the style of the tone on a terminal.
    pub(super) fn style(self) -> Style {
        match self {
            Tone::Title => Style::new().bold(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Attention => AnsiColor::Yellow.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Quiet => Style::new().dimmed(),
        }
    }
}

/// Safe text without line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) tone: Option<Tone>,
    pub(super) text: String,
}
