//! Reads `operators` of a `[[plugin]]`: declarations about the functions of an untyped component, which has
//! no manifest of its own.

use std::collections::BTreeMap;

use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{Determinism, EffectKind};

use super::document::{ConfigField, TableReader};

const DETERMINISM: [(&str, Determinism); 3] =
    [("pure", Determinism::Pure), ("stable", Determinism::Stable), ("external", Determinism::External)];

/// Declaration about one function or one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorOverride {
    /// `false`: the function is not offered as an operator.
    LeftOut,
    /// A table of declarations.
    Stated(OperatorSettings),
}

/// Declarations in a table. A value that is `None` is derived from the component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorSettings {
    /// Name of the operator, instead of the derived name.
    pub name: Option<Operator>,
    /// Description in one sentence.
    pub description: Option<String>,
    /// Effects that a call may have on the outside world.
    pub effects: Option<Vec<EffectKind>>,
    /// Determinism of the operator: `pure`, `stable` or `external`.
    pub determinism: Option<Determinism>,
    /// Type of the outcome that the operator produces.
    pub outcome_type: Option<String>,
    /// Status of the outcome: `draft` or `final`.
    pub outcome_status: Option<String>,
}

/// Reads all declarations. Each key is the name of a function, an operator or an interface.
pub(super) fn read(mut table: TableReader<'_>) -> BTreeMap<String, OperatorOverride> {
    let entries = table.entries().into_iter();
    entries.filter_map(|(key, field)| Some((key.to_owned(), operator_override(&field)?))).collect()
}

fn operator_override(field: &ConfigField<'_>) -> Option<OperatorOverride> {
    match field.value().as_bool() {
        Some(false) => return Some(OperatorOverride::LeftOut),
        Some(true) => {
            return field.invalid("`true` is not needed: every function is an operator unless it is set to `false`");
        }
        None => {}
    }
    let mut table = field.table()?;
    let all = EffectKind::ALL.map(|effect| (effect.as_str(), effect));
    let words = OperatorSettings {
        name: table.get("name").and_then(|field| field.parse(operator)),
        description: table.get("description").and_then(|field| field.string()).map(str::to_owned),
        effects: table.get("effects").map(|list| list.list(|field| field.choice(&all))),
        determinism: table.get("determinism").and_then(|field| field.choice(&DETERMINISM)),
        outcome_type: table.get("outcome_type").and_then(|field| field.string()).map(str::to_owned),
        outcome_status: table
            .get("outcome_status")
            .and_then(|field| field.choice(&[("draft", "draft"), ("final", "final")]))
            .map(str::to_owned),
    };
    table.finish();
    Some(OperatorOverride::Stated(words))
}

fn operator(text: &str) -> Result<Operator, String> {
    match Operator::is_valid(text) {
        true => Ok(Operator::new(text)),
        false => Err(format!(
            "invalid operator name {text:?}: use 1 to 128 visible ASCII characters without / : ~ and quotes"
        )),
    }
}
