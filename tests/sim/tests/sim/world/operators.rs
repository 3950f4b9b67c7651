//! Operators of a run: the table that jobs pin, and the catalog that plans are checked against.

use std::collections::BTreeMap;

use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::{
    Determinism, EffectKind, Limits, OnIndeterminate, PinnedOperator, PluginKind, RecoveryClass, ResolutionSpec,
    WasiMode,
};
use latchwork_core::plan::{Catalog, OperatorInfo};

use crate::faults::SETTLING_MS;

/// The tools and their recovery classes.
pub(crate) const TOOLS: [(&str, RecoveryClass); 5] = [
    ("Sim.Opaque", RecoveryClass::Opaque),
    ("Sim.Lossy", RecoveryClass::Opaque),
    ("Sim.Keyed", RecoveryClass::Keyed),
    ("Sim.Queryable", RecoveryClass::Queryable),
    ("Sim.Read", RecoveryClass::Read),
];
/// Operator of a step plugin that makes calls and continues after a failed call.
pub(crate) const SCRIPT: &str = "Sim.Script";
/// Operator of a step plugin that makes calls and fails if a call fails.
pub(crate) const STRICT: &str = "Sim.Strict";

/// Timeout of a call.
pub(crate) const TIMEOUT_MS: u32 = 1_500;

pub(crate) fn class(operator: &str) -> RecoveryClass {
    TOOLS.iter().find(|(name, _)| *name == operator).expect("a tool of the run").1
}

/// Returns the digest of an operator's component.
pub(crate) fn digest(operator: &str) -> Hash {
    Hash::of(&[operator.as_bytes()])
}

fn pinned(name: &str, class: RecoveryClass, kind: PluginKind) -> PinnedOperator {
    let world_changing = kind == PluginKind::Step || class != RecoveryClass::Read;
    PinnedOperator {
        plugin: name.to_lowercase(),
        version: "1.0.0".to_owned(),
        digest: digest(name),
        kind,
        effects: vec![if world_changing { EffectKind::ExternalSend } else { EffectKind::ReadOnly }],
        determinism: Determinism::External,
        class,
        resolution: ResolutionSpec {
            idempotent_by_key_seconds: if class == RecoveryClass::Keyed { 86_400 } else { 0 },
            settling_ms: SETTLING_MS,
        },
        reconcile: class == RecoveryClass::Queryable,
        compensate: kind == PluginKind::Tool && class != RecoveryClass::Read,
        // If the outcome of a call is unknown, the operator decides about the consequence. A call of `Sim.Lossy` fails.
        // A call of any other operator parks the job until a person decides.
        on_indeterminate: if name == "Sim.Lossy" { OnIndeterminate::Fail } else { OnIndeterminate::Park },
        verifier: None,
        confirmation: Default::default(),
        outcome_type: None,
        outcome_status: None,
        retry: None,
        limits: Limits { timeout_ms: TIMEOUT_MS, ..Limits::default() },
        wasi: WasiMode::None,
        settings: None,
    }
}

pub(crate) fn table() -> BTreeMap<Operator, PinnedOperator> {
    let tools = TOOLS.iter().map(|(name, class)| (*name, pinned(name, *class, PluginKind::Tool)));
    let steps = [SCRIPT, STRICT].map(|name| (name, pinned(name, RecoveryClass::Read, PluginKind::Step)));
    tools.chain(steps).map(|(name, pinned)| (Operator::new(name), pinned)).collect()
}

/// Returns the operator table in which no operator has a `compensate` export.
pub(crate) fn without_undoing() -> BTreeMap<Operator, PinnedOperator> {
    let mut table = table();
    table.values_mut().for_each(|pinned| pinned.compensate = false);
    table
}

/// Operator table as a catalog for the plan check.
pub(crate) struct Table(pub(crate) BTreeMap<Operator, PinnedOperator>);

impl Catalog for Table {
    fn operator(&self, name: &str) -> Option<OperatorInfo> {
        let pinned = self.0.get(name)?;
        Some(OperatorInfo {
            effects: pinned.effects.clone(),
            determinism: pinned.determinism,
            kind: pinned.kind,
            compensate: pinned.compensate,
        })
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().map(ToString::to_string).collect()
    }
}
