//! Reads `operators` of a `[[plugin]]`: declarations about the functions of an untyped component, which has
//! no manifest of its own.

use std::collections::BTreeMap;

use latchwork_core::model::ids::Operator;
use latchwork_core::model::manifest::{Determinism, EffectKind};
use latchwork_engine::capability::settings::{OperatorOverride, OperatorSettings};

use crate::located_toml::{TableReader, TomlField};

/// Reads all declarations. Each key is the name of a function, an operator or an interface.
pub(super) fn read(mut table: TableReader<'_>) -> BTreeMap<String, OperatorOverride> {
    let entries = table.entries().into_iter();
    entries.filter_map(|(key, field)| Some((key.to_owned(), operator_override(&field)?))).collect()
}

fn operator_override(field: &TomlField<'_>) -> Option<OperatorOverride> {
    match field.value().as_bool() {
        Some(false) => return Some(OperatorOverride::LeftOut),
        Some(true) => {
            return field.invalid("`true` is not needed: every function is an operator unless it is set to `false`");
        }
        None => {}
    }
    let mut table = field.table()?;
    let all = EffectKind::ALL.map(|effect| (effect.as_str(), effect));
    let classes = Determinism::ALL.map(|class| (class.as_str(), class));
    let words = OperatorSettings {
        name: table.get("name").and_then(|field| field.parse(operator)),
        description: table.get("description").and_then(|field| field.string()).map(str::to_owned),
        effects: table.get("effects").map(|list| list.list(|field| field.choice(&all))),
        determinism: table.get("determinism").and_then(|field| field.choice(&classes)),
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
