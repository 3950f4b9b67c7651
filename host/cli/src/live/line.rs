//! A line that the live view prints.

use tracing::Level;

use crate::text::Text;

/// A line that the live view prints.
#[derive(Clone, Debug)]
pub(crate) struct LiveLine {
    pub(crate) text: Text,
    pub(crate) level: Level,
    /// True if the line states a temporary fact. A screen with a redrawn area does not print such a line, because the
    /// area shows the fact until the fact ends.
    pub(crate) is_ephemeral: bool,
}
