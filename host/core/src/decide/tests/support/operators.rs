//! Operators named by the plans of the tests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::effect::Output;
use crate::model::ids::{Hash, Operator};
use crate::model::manifest::{
    Determinism, EffectKind, Limits, OnIndeterminate, PinnedOperator, PluginKind, RecoveryClass, ResolutionSpec,
};

pub(in crate::decide::tests) fn pinned(
    class: RecoveryClass,
    effects: &[EffectKind],
    kind: PluginKind,
) -> PinnedOperator {
    PinnedOperator {
        plugin: "p".into(),
        version: "1.0.0".into(),
        digest: Hash::of(&[b"component"]),
        kind,
        effects: effects.to_vec(),
        determinism: Determinism::External,
        class,
        resolution: ResolutionSpec {
            idempotent_by_key_seconds: if class == RecoveryClass::Keyed { 86_400 } else { 0 },
            settling_ms: 0,
        },
        reconcile: class == RecoveryClass::Queryable,
        compensate: false,
        on_indeterminate: OnIndeterminate::Park,
        verifier: None,
        confirmation: Default::default(),
        outcome_type: None,
        outcome_status: None,
        retry: None,
        limits: Limits::default(),
        wasi: Default::default(),
        settings: None,
    }
}

pub(in crate::decide::tests) fn operators() -> BTreeMap<Operator, PinnedOperator> {
    let send = [EffectKind::ExternalSend];
    [
        ("Opaque", pinned(RecoveryClass::Opaque, &send, PluginKind::Tool)),
        ("Keyed", pinned(RecoveryClass::Keyed, &send, PluginKind::Tool)),
        ("Queryable", pinned(RecoveryClass::Queryable, &send, PluginKind::Tool)),
        ("Read", pinned(RecoveryClass::Read, &[EffectKind::ReadOnly], PluginKind::Tool)),
        (
            "Model",
            PinnedOperator {
                determinism: Determinism::Stable,
                ..pinned(RecoveryClass::Read, &[EffectKind::ReadOnly], PluginKind::Tool)
            },
        ),
        ("Script", pinned(RecoveryClass::Read, &send, PluginKind::Step)),
        // Step plugin like `Script` that fails if one of its calls fails. It declares none of the effects of its calls.
        ("Failing", pinned(RecoveryClass::Read, &[], PluginKind::Step)),
    ]
    .map(|(name, pinned)| (Operator::new(name), pinned))
    .into()
}

/// Returns a plan step.
pub(in crate::decide::tests) fn step(id: &str, name: &str, depends_on: &[&str], payload: Value) -> Value {
    json!({
        "step_id": id, "kind": "operator", "name": name, "payload": payload, "depends_on": depends_on,
        "effects": ["read_only", "external_send"], "policy_tags": [], "gate": "none", "cache_policy": "never",
        "idempotency_template": id,
    })
}

/// Returns a wait step.
pub(crate) fn wait(id: &str, depends_on: &[&str], payload: Value) -> Value {
    let mut wait = step(id, "Wait", depends_on, payload);
    wait["kind"] = json!("wait");
    wait["effects"] = json!([]);
    wait
}

pub(in crate::decide::tests) fn good() -> Output {
    Output { result: "\"done\"".into(), receipt: None, state_changes: vec![], usage: None }
}
