//! Accesses that the host refused to a call, read from its log: `denied: plugin "name" wanted …; …`.

/// A refused access.
pub(super) struct RefusedAccess<'a> {
    /// The access with its verb: `wanted to write to a file`.
    pub(super) access: &'a str,
    /// The access, the reason and the remedy.
    text: &'a str,
}

impl RefusedAccess<'_> {
    /// Returns true if the refusal has this text of [`latchwork_engine::capability::denied`].
    pub(super) fn has(&self, text: &str) -> bool {
        self.text.contains(text)
    }
}

/// Returns the refusals in a log, in its order.
pub(super) fn in_log(log: &str) -> impl Iterator<Item = RefusedAccess<'_>> {
    log.lines().filter_map(|line| {
        let (_, refusal) = line.split_once("denied: plugin ")?;
        let (_, text) = refusal.split_once("\" ")?;
        let (access, _) = text.split_once("; ")?;
        Some(RefusedAccess { access, text })
    })
}
