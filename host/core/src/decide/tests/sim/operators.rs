//! Operators named by the plans of the tests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::effect::Output;
use crate::ids::{Hash, Operator};
use crate::manifest::{Class, Determinism, Effect, Limits, OnIndeterminate, Pinned, PluginKind, Resolution};

pub(in crate::decide::tests) fn pinned(class: Class, effects: &[Effect], kind: PluginKind) -> Pinned {
    Pinned {
        plugin: "p".into(),
        version: "1.0.0".into(),
        digest: Hash::of(&[b"component"]),
        kind,
        effects: effects.to_vec(),
        determinism: Determinism::External,
        class,
        resolution: Resolution {
            idempotent_by_key_seconds: if class == Class::Keyed { 86_400 } else { 0 },
            settling_ms: 0,
        },
        reconcile: class == Class::Queryable,
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

pub(in crate::decide::tests) fn operators() -> BTreeMap<Operator, Pinned> {
    let send = [Effect::ExternalSend];
    [
        ("Opaque", pinned(Class::Opaque, &send, PluginKind::Tool)),
        ("Keyed", pinned(Class::Keyed, &send, PluginKind::Tool)),
        ("Queryable", pinned(Class::Queryable, &send, PluginKind::Tool)),
        ("Read", pinned(Class::Read, &[Effect::ReadOnly], PluginKind::Tool)),
        (
            "Model",
            Pinned { determinism: Determinism::Stable, ..pinned(Class::Read, &[Effect::ReadOnly], PluginKind::Tool) },
        ),
        ("Script", pinned(Class::Read, &send, PluginKind::Step)),
        // Like `Script`, but fails if a call fails. Declares none of the effects of its calls.
        ("Failing", pinned(Class::Read, &[], PluginKind::Step)),
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

pub(in crate::decide::tests) fn good() -> Output {
    Output { result: "\"done\"".into(), receipt: None, state_changes: vec![], usage: None }
}
