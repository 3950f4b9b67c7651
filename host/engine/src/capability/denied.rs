//! Refusal of an access, with the change of `latch.toml` that would allow it.

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;

use crate::capability::call_window::CallWindow;
use crate::capability::config_line::config_line;
use crate::capability::grants::Grants;
use crate::guest::permissions::DeniedBy;

/// Refusal of an access, with the change that would allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    access: String,
    remedy: Remedy,
    /// Rule that refused the access.
    pub(crate) rule: DeniedBy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    /// Grants that would allow the access.
    Grants(Grants),
    /// Grants that would allow the access, and the condition under which an administrator may give them.
    GrantsIf(&'static str, Grants),
    /// No grant would allow the access. The text names the alternative.
    Other(&'static str),
}

/// Text of a refusal: the operator declares no effect on the world. The text names the remedy.
pub const DECLARE_EFFECTS: &str = "no grant allows it: the operator declares no world-changing effect, \
     so that it may only read; declare internal-write, external-write or external-send in describe, or add the effect \
     to `operators` of the plugin in latch.toml";

/// Text of a refusal: the operator declares no effect on other systems. The text names the remedy.
pub const DECLARE_EXTERNAL_EFFECTS: &str = "no grant allows it: the operator declares neither external-write nor \
     external-send; declare one of them in describe, or add it to `operators` of the plugin in latch.toml";

/// Text of a refusal: the function is `reconcile` or `verify`.
pub const ONLY_READS: &str = "no grant allows it: reconcile and verify only read, whatever their operator declares";

/// Text of a refusal: the operator declares that it is pure. The text names the remedy.
pub const NOT_FOR_PURE: &str = "no grant allows it: the operator declares that it is pure; take the value from the input, \
     or declare it stable or external";

/// Part of a refusal: the method needs an operator with external effects.
pub const NO_EXTERNAL_EFFECT: &str = "but its operator declares no external effect";

impl Denied {
    /// Returns a refusal that the grants `wanted` would lift.
    pub(crate) fn needs(access: String, wanted: Grants) -> Self {
        Self { access: truncate(access), remedy: Remedy::Grants(wanted), rule: DeniedBy::Grants }
    }

    /// Returns a refusal that the grants `wanted` would lift, if `condition` holds.
    pub(crate) fn needs_if(access: String, condition: &'static str, wanted: Grants) -> Self {
        Self { access: truncate(access), remedy: Remedy::GrantsIf(condition, wanted), rule: DeniedBy::Grants }
    }

    /// Returns a refusal that no grant would lift.
    pub(crate) fn never(access: String, alternative: &'static str) -> Self {
        Self { access: truncate(access), remedy: Remedy::Other(alternative), rule: DeniedBy::Grants }
    }

    /// Returns the same refusal with the rule that refused the access.
    pub(crate) fn by(self, rule: DeniedBy) -> Self {
        Self { rule, ..self }
    }

    /// Logs the refusal, records it for the end of the call, and returns a sentence for the guest. After
    /// [`bounds::DENIALS_LOGGED`] refusals, a call logs no more of them.
    pub(crate) fn record(&self, window: &CallWindow, plugin: &str) -> String {
        let sentence = match window.count_denied() {
            count if count <= bounds::DENIALS_LOGGED => self.log(plugin),
            count => {
                if count == bounds::DENIALS_LOGGED + 1 {
                    tracing::warn!(
                        plugin,
                        "denied: plugin {plugin:?} has more refusals in this call, which are not logged"
                    );
                }
                self.texts().1
            }
        };
        window.record_denied(sentence.clone(), self.rule);
        sentence
    }

    /// Logs the refusal and returns a sentence for the guest.
    pub fn log(&self, plugin: &str) -> String {
        let (logged, sentence) = self.texts();
        tracing::warn!(plugin, "denied: plugin {plugin:?} {}; {logged}", self.access);
        sentence
    }

    /// Returns the remedy for the log, and the sentence for the guest.
    fn texts(&self) -> (String, String) {
        let access = &self.access;
        let (logged, sentence) = match &self.remedy {
            Remedy::Grants(grants) => {
                let line = config_line(grants);
                (
                    format!("to allow it, its [[plugin]] in latch.toml needs: {line}"),
                    format!("latch.toml would allow it with: {line}"),
                )
            }
            Remedy::GrantsIf(condition, grants) => {
                let text = format!("{condition}, its [[plugin]] in latch.toml needs: {}", config_line(grants));
                (text.clone(), text)
            }
            Remedy::Other(text) => ((*text).to_owned(), (*text).to_owned()),
        };
        (logged, format!("denied: {access}; {sentence}"))
    }
}

/// Bounds the description of an access. It can contain a name that the guest chose.
fn truncate(access: String) -> String {
    truncate::at_bytes(&access, bounds::ACCESS_BYTES).start.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I225: bound `access_bytes`.
    #[test]
    fn description_of_an_access_is_truncated() {
        let longest = "a".repeat(bounds::ACCESS_BYTES);
        for access in [longest.clone(), format!("{longest}a")] {
            assert_eq!(Denied::never(access.clone(), "no").access, longest);
            assert_eq!(Denied::needs(access, Grants::default()).access, longest);
        }
    }
}
