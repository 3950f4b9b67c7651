//! Arguments of suggested commands.

use crate::event::Header;

/// Returns the argument `--reason` for the approval command if the policy recorded with the job requires a reason.
/// Otherwise returns an empty text.
///
/// The current policy is not read. If only the current policy requires a reason, an approval without a reason is
/// refused with a message.
pub fn reason_argument(header: &Header) -> &'static str {
    if header.rules.as_ref().is_some_and(|rules| rules.gate_reason) { " --reason TEXT" } else { "" }
}

/// Returns the argument `--key` for the approval command if the policy recorded with the job requires signed approvals.
/// Otherwise returns an empty text. The current policy is not read.
pub fn key_argument(header: &Header) -> &'static str {
    if header.rules.as_ref().is_some_and(|rules| !rules.gate_approvals.is_claimed()) { " --key FILE" } else { "" }
}

/// Quotes one argument of a command line with single quotes if a shell would change it.
pub fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+,=".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
