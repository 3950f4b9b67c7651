//! Trust: operators that an actor may use without approval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::Operator;

/// The highest level of trust.
pub const TRUST_MAX: u32 = 3;

/// A tenant's rules about execution without approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoExec {
    /// True if execution without approval is allowed at all.
    pub enabled: bool,
    /// Minimum level of trust for execution without approval.
    pub min_trust: u32,
    /// Levels of trust from 0 to [`TRUST_MAX`], by actor and operator in the form `actor/Operator`. A missing
    /// entry means level 0.
    pub trust: BTreeMap<String, u32>,
}

impl Default for AutoExec {
    fn default() -> Self {
        Self { enabled: false, min_trust: TRUST_MAX, trust: BTreeMap::new() }
    }
}

impl AutoExec {
    /// Returns true if execution without approval is switched off. No actor is then trusted with any operator.
    pub fn is_off(&self) -> bool {
        !self.enabled
    }

    /// Returns true if the actor is trusted with the operator. In the mode `AUTO_EXEC`, the actor's jobs may
    /// then call the operator without approval. Gates of the plan and of the policy still apply.
    pub fn trusts(&self, actor: &str, operator: &Operator) -> bool {
        let level = self.trust.get(&format!("{actor}/{operator}")).copied().unwrap_or(0);
        self.enabled && level >= self.min_trust
    }

    /// Returns true if some actor is trusted with the operator.
    pub fn may_trust(&self, operator: &Operator) -> bool {
        let is_enough = |(name, level): (&String, &u32)| {
            let is_of = name.rsplit_once('/').is_some_and(|(_, what)| what == operator.as_str());
            is_of && *level >= self.min_trust
        };
        self.enabled && (self.min_trust == 0 || self.trust.iter().any(is_enough))
    }

    /// Returns these settings with only the entries of one actor. A job stores this form.
    #[must_use]
    pub fn of_actor(&self, actor: &str) -> AutoExec {
        if self.is_off() {
            return AutoExec::default();
        }
        let is_of = |name: &&String| name.rsplit_once('/').is_some_and(|(who, _)| who == actor);
        let trust = self.trust.iter().filter(|(name, _)| is_of(name)).map(|(name, level)| (name.clone(), *level));
        AutoExec { trust: trust.collect(), ..*self }
    }

    /// Returns settings that allow only operations that both policies allow.
    #[must_use]
    pub(super) fn narrowed_by(&self, other: &AutoExec) -> AutoExec {
        let both = |(name, level): (&String, &u32)| Some((name.clone(), *level.min(other.trust.get(name)?)));
        AutoExec {
            enabled: self.enabled && other.enabled,
            min_trust: self.min_trust.max(other.min_trust),
            trust: self.trust.iter().filter_map(both).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(enabled: bool, min_trust: u32, trust: &[(&str, u32)]) -> AutoExec {
        let trust = trust.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
        AutoExec { enabled, min_trust, trust }
    }

    /// I42: trust holds per actor and operator. Both the tenant's current policy and the policy under which the job
    /// was accepted must grant the trust.
    #[test]
    fn trust_is_per_actor_and_operator_and_needs_both_policies() {
        let send = Operator::new("Mail.Send");
        let now = auto(true, 2, &[("ada/Mail.Send", 3), ("bob/Mail.Send", 1)]);
        assert!(now.trusts("ada", &send));
        assert!(!now.trusts("bob", &send) && !now.trusts("eve", &send));
        assert!(!now.trusts("ada", &Operator::new("Web.Post")));
        assert!(!auto(false, 0, &[]).trusts("ada", &send), "no actor is trusted unless the tenant allows it");
        assert!(auto(true, 0, &[]).trusts("ada", &send), "a tenant may ask for none");

        let accepted = auto(true, 3, &[("ada/Mail.Send", 2), ("bob/Mail.Send", 3)]);
        assert!(now.may_trust(&send) && !now.may_trust(&Operator::new("Web.Post")));
        assert!(!auto(true, 3, &[("ada/Mail.Send", 2)]).may_trust(&send) && auto(true, 0, &[]).may_trust(&send));
        let narrower = now.narrowed_by(&accepted);
        assert_eq!(narrower, auto(true, 3, &[("ada/Mail.Send", 2), ("bob/Mail.Send", 1)]));
        assert!(!narrower.trusts("ada", &send));
        assert_eq!(accepted.narrowed_by(&now), narrower);
        assert!(
            now.narrowed_by(&auto(true, 0, &[])).trust.is_empty(),
            "an actor that was not trusted then is not trusted now"
        );
        assert!(!now.narrowed_by(&AutoExec::default()).enabled);
        assert_eq!(now.of_actor("ada").trust.len(), 1);
    }
}
