//! Permissions of an operator's code, derived from its declared effects and from the mode of the job.

use latchwork_core::model::manifest::EffectKind;

/// Strongest effect that an operator declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectClass {
    /// The operator changes nothing.
    #[default]
    Read,
    /// The operator changes state that belongs to the host: granted directories and the key-value map.
    Internal,
    /// The operator changes other systems.
    External,
}

impl EffectClass {
    /// Returns the class of an operator with these effects.
    pub fn of(effects: &[EffectKind]) -> Self {
        let class = |effect: &EffectKind| match (effect.is_external(), effect.is_world_changing()) {
            (true, _) => EffectClass::External,
            (false, true) => EffectClass::Internal,
            (false, false) => EffectClass::Read,
        };
        effects.iter().map(class).max().unwrap_or_default()
    }
}

/// Permissions of one call. An access must be allowed both by these permissions and by the plugin's grants.
///
/// `class` is the class that the job pinned, because the host's barrier and gate follow from this class. The functions
/// `reconcile` and `verify` have the class [`EffectClass::Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallPermissions {
    /// Class of the operator.
    pub class: EffectClass,
    /// True if the job is a dry run. The code may then send only `GET` and `HEAD`.
    pub is_dry_run: bool,
    /// True if the operator is declared `stable`. In earlier versions, whose grants named no methods, such an operator
    /// could send `POST`.
    pub is_stable: bool,
    /// True if the operator is declared `pure`. Its code may then read no clock, no random numbers and no secrets.
    pub is_pure: bool,
    /// True in `reconcile` and `verify`, which only read, whatever the operator declares.
    pub is_question: bool,
}

impl CallPermissions {
    /// Permission to read only.
    pub const READ_ONLY: CallPermissions = CallPermissions {
        class: EffectClass::Read,
        is_dry_run: false,
        is_stable: false,
        is_pure: false,
        is_question: false,
    };
    /// Permission of `reconcile` and `verify`.
    pub const QUESTION: CallPermissions = CallPermissions { is_question: true, ..CallPermissions::READ_ONLY };

    /// Returns true if the code may write to granted directories and to the key-value map.
    pub(crate) fn may_write(self) -> bool {
        self.class >= EffectClass::Internal
    }

    /// Returns true if the code may change other systems.
    pub(crate) fn may_send(self) -> bool {
        self.class == EffectClass::External
    }
}

/// Rule that refused an access. The variants are in ascending order. If a call has several refusals, a refusal by the
/// greatest rule explains the end of the call. Of several refusals by this rule, the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeniedBy {
    /// The grants, or the permissions that follow from the operator's effects.
    Grants,
    /// Only the rules about methods, paths, bound secrets and effects. In earlier versions without these rules, the
    /// grant of an address or a name alone allowed the access.
    NarrowerGrants,
    /// The mode of the job: a dry run sends only `GET` and `HEAD`.
    DryRun,
}
