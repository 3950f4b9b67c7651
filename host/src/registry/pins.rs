//! Data that a job pins about the operators of a plugin.

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{
    Confirmation, Limits, OnIndeterminate, OperatorSpec, PinnedOperator, PluginKind, WasiMode,
};
use latchwork_core::model::retry::RetrySpec;

/// The part of the pinned data that is the same for all operators of a plugin. The fields correspond to those of
/// [`PinnedOperator`].
pub(super) struct PluginPins {
    pub(super) plugin: String,
    pub(super) version: String,
    pub(super) digest: Hash,
    pub(super) kind: PluginKind,
    pub(super) reconcile: bool,
    pub(super) compensate: bool,
    pub(super) on_indeterminate: OnIndeterminate,
    /// Verifier of the operators that change the world.
    pub(super) verifier: Option<String>,
    /// Confirmation rule of the operators that change the world.
    pub(super) confirmation: Confirmation,
    pub(super) retry: Option<RetrySpec>,
    pub(super) wasi: WasiMode,
    pub(super) settings: Option<Hash>,
}

impl PluginPins {
    /// Returns the data that a job pins about one operator.
    pub(super) fn of_operator(&self, spec: &OperatorSpec, limits: Limits) -> PinnedOperator {
        let changes = spec.is_world_changing();
        PinnedOperator {
            plugin: self.plugin.clone(),
            version: self.version.clone(),
            digest: self.digest,
            kind: self.kind,
            effects: spec.effects.clone(),
            determinism: spec.determinism,
            class: spec.recovery_class(self.reconcile),
            resolution: spec.resolution,
            reconcile: self.reconcile,
            compensate: self.compensate,
            on_indeterminate: self.on_indeterminate,
            verifier: self.verifier.clone().filter(|_| changes),
            confirmation: match self.kind {
                PluginKind::Tool if changes => self.confirmation,
                _ => Confirmation::default(),
            },
            outcome_type: spec.outcome_type.clone(),
            outcome_status: spec.outcome_status.clone(),
            retry: self.retry.clone(),
            limits,
            wasi: self.wasi,
            settings: self.settings,
        }
    }
}
