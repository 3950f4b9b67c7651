//! `[policy.TENANT]`: permissions of a tenant.

use std::collections::BTreeMap;

use serde_json::json;

use latchwork_core::encoding::canon;
use latchwork_core::model::answer_requirement::AnswerRequirement;
use latchwork_core::model::auto_exec::{AutoExec, TRUST_MAX};
use latchwork_core::model::budget::Budget;
use latchwork_core::model::ids::{Hash, Operator};
use latchwork_core::model::manifest::EffectKind;
use latchwork_core::model::mode::Mode;
use latchwork_core::model::person::Assurance;
use latchwork_core::model::rules::GATE_EXPIRES_MS;

use super::plugin::positive_duration;
use super::types::Policy;
use super::values;
use crate::located_toml::{TableReader, TomlField};

/// Maximum quorum. A higher number of approvers is a mistake.
const QUORUM_MAX: u64 = 100;
/// Tenant of every request that names no tenant.
pub const DEFAULT_TENANT: &str = "default";

impl Default for Policy {
    /// Returns the built-in policy, used if nothing is configured. The policy allows every mode except `AUTO_EXEC`, and
    /// gates external effects.
    fn default() -> Self {
        Policy {
            modes: vec![Mode::DryRun, Mode::DraftOnly, Mode::HumanGated],
            gate_effects: vec![EffectKind::ExternalWrite, EffectKind::ExternalSend],
            gate_tags: vec![],
            standing_approvals: true,
            gate_expires_ms: GATE_EXPIRES_MS,
            gate_quorum: 1,
            self_approve: true,
            gate_reason: false,
            gate_approvals: Assurance::Claimed,
            budget: Budget::default(),
            auto_exec: AutoExec::default(),
            require: BTreeMap::new(),
            version: None,
            hash: Hash::default(),
        }
        .with_hash()
    }
}

impl Policy {
    /// Sorts the lists, removes duplicates and computes the hash. Policies with the same meaning have the
    /// same hash.
    fn with_hash(mut self) -> Self {
        self.modes.sort_by_key(|mode| Mode::ALL.iter().position(|m| m == mode));
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
        // Only settings that differ from the default are hashed, so that a policy keeps its hash when a new version
        // adds settings.
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
        if self.gate_reason {
            gate["reason"] = true.into();
        }
        if !self.gate_approvals.is_claimed() {
            gate["approvals"] = json!(self.gate_approvals);
        }
        if !self.budget.is_unlimited() {
            let Budget { per_job_micro_usd, per_month_micro_usd } = self.budget;
            meaning["budget"] = json!({ "per_job": per_job_micro_usd, "per_month": per_month_micro_usd });
        }
        if self.auto_exec != AutoExec::default() {
            meaning["auto_exec"] = json!(self.auto_exec);
        }
        if !self.require.is_empty() {
            meaning["require"] = json!(self.require);
        }
        self.hash = Hash::of(&[&canon::value_to_canonical(&meaning)]);
        self
    }
}

impl Policy {
    /// Removes the built-in gates on effects if `auto_exec` is enabled and the policy does not list effects itself.
    ///
    /// With the built-in gates, every external effect would need an approval, even for a trusted actor. `auto_exec`
    /// lets trusted actors pass the gates of the job's mode, but not the gates of the policy.
    fn without_built_in_gates(mut self, names_effects: bool) -> Self {
        if self.auto_exec.enabled && !names_effects {
            self.gate_effects.clear();
        }
        self.with_hash()
    }
}

/// Settings of one table. `None` for a setting that the table does not contain.
#[derive(Default)]
struct PolicySettings {
    modes: Option<Vec<Mode>>,
    gate_effects: Option<Vec<EffectKind>>,
    gate_tags: Option<Vec<String>>,
    standing_approvals: Option<bool>,
    gate_expires_ms: Option<u32>,
    gate_quorum: Option<u32>,
    self_approve: Option<bool>,
    gate_reason: Option<bool>,
    gate_approvals: Option<Assurance>,
    per_job_micro_usd: Option<u64>,
    per_month_micro_usd: Option<u64>,
    auto_exec: Option<bool>,
    min_trust: Option<u32>,
    trust: Option<BTreeMap<String, u32>>,
    require: Option<BTreeMap<Operator, Vec<AnswerRequirement>>>,
    version: Option<u32>,
}

impl PolicySettings {
    fn apply_over(self, base: &Policy) -> Policy {
        let auto_exec = AutoExec {
            enabled: self.auto_exec.unwrap_or(base.auto_exec.enabled),
            min_trust: self.min_trust.unwrap_or(base.auto_exec.min_trust),
            trust: self.trust.unwrap_or_else(|| base.auto_exec.trust.clone()),
        };
        Policy {
            auto_exec,
            require: self.require.unwrap_or_else(|| base.require.clone()),
            version: self.version.or(base.version),
            modes: self.modes.unwrap_or_else(|| base.modes.clone()),
            gate_effects: self.gate_effects.unwrap_or_else(|| base.gate_effects.clone()),
            gate_tags: self.gate_tags.unwrap_or_else(|| base.gate_tags.clone()),
            standing_approvals: self.standing_approvals.unwrap_or(base.standing_approvals),
            gate_expires_ms: self.gate_expires_ms.unwrap_or(base.gate_expires_ms),
            gate_quorum: self.gate_quorum.unwrap_or(base.gate_quorum),
            self_approve: self.self_approve.unwrap_or(base.self_approve),
            gate_reason: self.gate_reason.unwrap_or(base.gate_reason),
            gate_approvals: self.gate_approvals.unwrap_or(base.gate_approvals),
            budget: Budget {
                per_job_micro_usd: self.per_job_micro_usd.or(base.budget.per_job_micro_usd),
                per_month_micro_usd: self.per_month_micro_usd.or(base.budget.per_month_micro_usd),
            },
            hash: base.hash,
        }
        .with_hash()
    }
}

/// Reads all policies, including `default`. A setting that a tenant's table lacks is taken from `[policy.default]`. A
/// setting that both tables lack has its built-in value.
pub(super) fn read(table: Option<TableReader<'_>>) -> BTreeMap<String, Policy> {
    let mut settings = BTreeMap::new();
    if let Some(mut table) = table {
        for (tenant, field) in table.entries() {
            if !is_valid_name(tenant) {
                field.invalid::<()>("invalid tenant name: use 1 to 256 bytes without control characters");
            }
            if let Some(entry) = field.table() {
                settings.insert(tenant.to_owned(), read_one(entry));
            }
        }
    }
    let default = settings.remove(DEFAULT_TENANT).unwrap_or_default();
    let names_effects = default.gate_effects.is_some();
    let base = default.apply_over(&Policy::default());
    let of_tenant = |(tenant, settings): (String, PolicySettings)| {
        let names_effects = names_effects || settings.gate_effects.is_some();
        (tenant, settings.apply_over(&base).without_built_in_gates(names_effects))
    };
    let mut policies: BTreeMap<_, _> = settings.into_iter().map(of_tenant).collect();
    policies.insert(DEFAULT_TENANT.to_owned(), base.without_built_in_gates(names_effects));
    policies
}

fn read_one(mut table: TableReader<'_>) -> PolicySettings {
    let mut settings = PolicySettings {
        modes: table.get("modes").map(|field| modes(&field)),
        standing_approvals: table.get("standing_approvals").and_then(|field| field.boolean()),
        auto_exec: table.get("auto_exec").and_then(|field| field.boolean()),
        min_trust: table.get("auto_exec_min_trust").and_then(|field| trust_level(&field)),
        trust: table.get("trust").and_then(|field| field.table()).map(trust),
        require: table.get("require").and_then(|field| field.table()).map(require),
        version: table.get("version").and_then(|field| field.integer(0..=u64::from(u32::MAX))).map(|n| n as u32),
        ..PolicySettings::default()
    };
    if let Some(mut gate) = table.get("gate").and_then(|field| field.table()) {
        settings.gate_effects = gate.get("effects").map(|field| field.list(effect));
        settings.gate_tags = gate.get("tags").map(|field| field.list(|tag| tag.string().map(str::to_owned)));
        settings.gate_expires_ms = gate.get("expires").and_then(|field| field.parse(positive_duration));
        settings.gate_quorum = gate.get("quorum").and_then(|field| field.integer(1..=QUORUM_MAX)).map(|n| n as u32);
        settings.self_approve = gate.get("self_approve").and_then(|field| field.boolean());
        settings.gate_reason = gate.get("reason").and_then(|field| field.boolean());
        settings.gate_approvals = gate.get("approvals").and_then(|field| field.choice(&Assurance::NAMES));
        gate.finish();
    }
    if let Some(mut budget) = table.get("budget").and_then(|field| field.table()) {
        settings.per_job_micro_usd = budget.get("per_job_usd").and_then(|field| field.parse(values::micro_usd));
        settings.per_month_micro_usd = budget.get("per_month_usd").and_then(|field| field.parse(values::micro_usd));
        budget.finish();
    }
    table.finish();
    settings
}

/// Returns true if `text` is a valid name of an actor or a tenant. Control characters are refused. Keys are computed
/// from names that are joined with zero bytes, so a zero byte inside a name could make two keys equal.
pub fn is_valid_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && !text.chars().any(char::is_control)
}

fn modes(field: &TomlField<'_>) -> Vec<Mode> {
    if field.value().as_array().is_some_and(|modes| modes.is_empty()) {
        let all: Vec<_> = Mode::ALL.iter().map(|mode| format!("`{}`", mode.as_str())).collect();
        field.invalid::<()>(format!(
            "`modes` is empty, so no job could be accepted: name at least one of {}",
            all.join(", ")
        ));
    }
    field.list(mode)
}

fn mode(field: TomlField<'_>) -> Option<Mode> {
    field.choice(&Mode::ALL.map(|mode| (mode.as_str(), mode)))
}

fn trust_level(field: &TomlField<'_>) -> Option<u32> {
    field.integer(0..=u64::from(TRUST_MAX)).map(|level| level as u32)
}

/// Reads the trust levels: `{ "me/Mail.Send" = 3 }`
fn trust(mut table: TableReader<'_>) -> BTreeMap<String, u32> {
    let mut trust = BTreeMap::new();
    for (name, field) in table.entries() {
        let is_pair = name.rsplit_once('/').is_some_and(|(who, what)| !who.is_empty() && is_operator(what));
        if !is_pair {
            field.invalid::<()>(format!(
                "`{name}` does not name an actor and an operator: write `\"ada/Mail.Send\" = 3`"
            ));
        } else if let Some(level) = trust_level(&field) {
            trust.insert(name.to_owned(), level);
        }
    }
    trust
}

/// Reads the required properties of answers, by operator: `{ "Web.Fetch" = ["citations"] }`
fn require(mut table: TableReader<'_>) -> BTreeMap<Operator, Vec<AnswerRequirement>> {
    let mut require = BTreeMap::new();
    for (name, field) in table.entries() {
        if !is_operator(name) {
            field.invalid::<()>(format!("`{name}` is not an operator name: write `\"Web.Fetch\" = [\"citations\"]`"));
            continue;
        }
        let mut demands =
            field.list(|demand| demand.choice(&AnswerRequirement::ALL.map(|demand| (demand.as_str(), demand))));
        demands.sort_unstable();
        demands.dedup();
        require.insert(Operator::new(name), demands);
    }
    require
}

pub(super) fn is_operator(text: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    text.contains('.') && text.split('.').all(is_word)
}

fn effect(field: TomlField<'_>) -> Option<EffectKind> {
    let effect = field.choice(&EffectKind::ALL.map(|effect| (effect.as_str(), effect)))?;
    if !effect.is_world_changing() {
        return field.invalid(format!("`{}` changes nothing, so it cannot be gated", effect.as_str()));
    }
    Some(effect)
}
