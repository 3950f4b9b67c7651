//! `[policy.TENANT]`: what a tenant allows.

use std::collections::BTreeMap;

use latchwork_core::canon;
use latchwork_core::cost::Budget;
use latchwork_core::event::Mode;
use latchwork_core::ids::Hash;
use latchwork_core::manifest::Effect;
use latchwork_core::pages;
use latchwork_core::policy::GATE_EXPIRES_MS;
use serde_json::json;

use super::document::{Field, Table};
use super::plugin::positive_duration;
use super::types::Policy;
use super::values;

/// More approvers than this nobody finds.
const QUORUM_MAX: u64 = 100;
/// The tenant that everybody belongs to who names none.
pub const DEFAULT_TENANT: &str = "default";

const MODES: [Mode; 4] = [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated, Mode::AutoExec];

impl Default for Policy {
    /// What holds where nothing is configured: everything is allowed that a person can still stop.
    fn default() -> Self {
        Policy {
            modes: vec![Mode::DryRun, Mode::DraftOnly, Mode::HumanGated],
            gate_effects: vec![Effect::ExternalWrite, Effect::ExternalSend],
            gate_tags: vec![],
            standing_approvals: true,
            gate_expires_ms: GATE_EXPIRES_MS,
            gate_quorum: 1,
            self_approve: true,
            budget: Budget::default(),
            hash: Hash::default(),
        }
        .sealed()
    }
}

impl Policy {
    /// Sorted, without repetitions, and hashed: policies that say the same are the same.
    fn sealed(mut self) -> Self {
        self.modes.sort_by_key(|mode| MODES.iter().position(|m| m == mode));
        self.modes.dedup();
        self.gate_effects.sort();
        self.gate_effects.dedup();
        self.gate_tags.sort();
        self.gate_tags.dedup();
        let mut meaning = json!({
            "modes": self.modes,
            "gate": { "effects": self.gate_effects, "tags": self.gate_tags },
            "standing_approvals": self.standing_approvals,
        });
        // Only what differs from the default: a policy keeps its hash when a version adds settings.
        let gate = &mut meaning["gate"];
        if self.gate_expires_ms != GATE_EXPIRES_MS {
            gate["expires_ms"] = self.gate_expires_ms.into();
        }
        if self.gate_quorum != 1 {
            gate["quorum"] = self.gate_quorum.into();
        }
        if !self.self_approve {
            gate["self_approve"] = false.into();
        }
        if !self.budget.is_unlimited() {
            let Budget { per_job_micro_usd, per_month_micro_usd } = self.budget;
            meaning["budget"] = json!({ "per_job": per_job_micro_usd, "per_month": per_month_micro_usd });
        }
        self.hash = Hash::of(&[&canon::value_to_canonical(&meaning)]);
        self
    }
}

/// What one table says; none where it is silent.
#[derive(Default)]
struct Said {
    modes: Option<Vec<Mode>>,
    gate_effects: Option<Vec<Effect>>,
    gate_tags: Option<Vec<String>>,
    standing_approvals: Option<bool>,
    gate_expires_ms: Option<u32>,
    gate_quorum: Option<u32>,
    self_approve: Option<bool>,
    per_job_micro_usd: Option<u64>,
    per_month_micro_usd: Option<u64>,
}

impl Said {
    fn over(self, base: &Policy) -> Policy {
        Policy {
            modes: self.modes.unwrap_or_else(|| base.modes.clone()),
            gate_effects: self.gate_effects.unwrap_or_else(|| base.gate_effects.clone()),
            gate_tags: self.gate_tags.unwrap_or_else(|| base.gate_tags.clone()),
            standing_approvals: self.standing_approvals.unwrap_or(base.standing_approvals),
            gate_expires_ms: self.gate_expires_ms.unwrap_or(base.gate_expires_ms),
            gate_quorum: self.gate_quorum.unwrap_or(base.gate_quorum),
            self_approve: self.self_approve.unwrap_or(base.self_approve),
            budget: Budget {
                per_job_micro_usd: self.per_job_micro_usd.or(base.budget.per_job_micro_usd),
                per_month_micro_usd: self.per_month_micro_usd.or(base.budget.per_month_micro_usd),
            },
            hash: base.hash,
        }
        .sealed()
    }
}

/// All policies; `default` among them. What a tenant's table leaves out is as in
/// `[policy.default]`, what that leaves out is as built in.
pub(super) fn read(table: Option<Table<'_>>) -> BTreeMap<String, Policy> {
    let mut said = BTreeMap::new();
    if let Some(mut table) = table {
        for (tenant, field) in table.entries() {
            if let Some(entry) = field.table() {
                said.insert(tenant.to_owned(), read_one(entry));
            }
        }
    }
    let base = said.remove(DEFAULT_TENANT).unwrap_or_default().over(&Policy::default());
    let mut policies: BTreeMap<_, _> = said.into_iter().map(|(tenant, said)| (tenant, said.over(&base))).collect();
    policies.insert(DEFAULT_TENANT.to_owned(), base);
    policies
}

fn read_one(mut table: Table<'_>) -> Said {
    table.not_in_this_version(&["auto_exec", "auto_exec_min_trust", "trust", "require"]);
    let mut said = Said {
        modes: table.get("modes").map(|field| field.list(mode)),
        standing_approvals: table.get("standing_approvals").and_then(|field| field.boolean()),
        ..Said::default()
    };
    if let Some(mut gate) = table.get("gate").and_then(|field| field.table()) {
        said.gate_effects = gate.get("effects").map(|field| field.list(effect));
        said.gate_tags = gate.get("tags").map(|field| field.list(|tag| tag.string().map(str::to_owned)));
        said.gate_expires_ms = gate.get("expires").and_then(|field| field.parse(positive_duration));
        said.gate_quorum = gate.get("quorum").and_then(|field| field.integer(1..=QUORUM_MAX)).map(|n| n as u32);
        said.self_approve = gate.get("self_approve").and_then(|field| field.boolean());
        gate.finish();
    }
    if let Some(mut budget) = table.get("budget").and_then(|field| field.table()) {
        said.per_job_micro_usd = budget.get("per_job_usd").and_then(|field| field.parse(values::usd));
        said.per_month_micro_usd = budget.get("per_month_usd").and_then(|field| field.parse(values::usd));
        budget.finish();
    }
    table.finish();
    said
}

fn mode(field: Field<'_>) -> Option<Mode> {
    let mode = field.word(&MODES.map(|mode| (mode.as_str(), mode)))?;
    if mode == Mode::AutoExec {
        let message = "AUTO_EXEC needs levels of trust, which are not supported by this version: take it out";
        field.problem(pages::CONFIG_NOT_SUPPORTED, message);
        return None;
    }
    Some(mode)
}

fn effect(field: Field<'_>) -> Option<Effect> {
    let effect = field.word(&Effect::ALL.map(|effect| (effect.as_str(), effect)))?;
    if !effect.is_world_changing() {
        return field.invalid(format!("`{}` changes nothing: there is nothing to gate", effect.as_str()));
    }
    Some(effect)
}
