//! `operators` of a `[[plugin]]`: what a plain component cannot say of itself.

use std::collections::BTreeMap;

use latchwork_core::ids::Operator;
use latchwork_core::manifest::{Determinism, Effect};

use super::document::{Field, Table};

const DETERMINISM: [(&str, Determinism); 3] =
    [("pure", Determinism::Pure), ("stable", Determinism::Stable), ("external", Determinism::External)];

/// What is said of one function, or of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorStatement {
    /// `false`: it is not offered.
    LeftOut,
    /// A table.
    Stated(OperatorWords),
}

/// What a table says; the rest is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorWords {
    /// Another name.
    pub name: Option<Operator>,
    /// One sentence.
    pub description: Option<String>,
    /// What it may do to the world.
    pub effects: Option<Vec<Effect>>,
    /// How repeatable it is.
    pub determinism: Option<Determinism>,
    /// Type of the outcome it produces.
    pub outcome_type: Option<String>,
    /// `draft` or `final`.
    pub outcome_status: Option<String>,
}

/// Everything that is said, by function, operator or interface.
pub(super) fn read(mut table: Table<'_>) -> BTreeMap<String, OperatorStatement> {
    let entries = table.entries().into_iter();
    entries.filter_map(|(key, field)| Some((key.to_owned(), statement(&field)?))).collect()
}

fn statement(field: &Field<'_>) -> Option<OperatorStatement> {
    match field.value().as_bool() {
        Some(false) => return Some(OperatorStatement::LeftOut),
        Some(true) => return field.invalid("every function is an operator unless it is left out with `false`"),
        None => {}
    }
    let mut table = field.table()?;
    let all = Effect::ALL.map(|effect| (effect.as_str(), effect));
    let words = OperatorWords {
        name: table.get("name").and_then(|field| field.parse(operator)),
        description: table.get("description").and_then(|field| field.string()).map(str::to_owned),
        effects: table.get("effects").map(|list| list.list(|field| field.word(&all))),
        determinism: table.get("determinism").and_then(|field| field.word(&DETERMINISM)),
        outcome_type: table.get("outcome_type").and_then(|field| field.string()).map(str::to_owned),
        outcome_status: table
            .get("outcome_status")
            .and_then(|field| field.word(&[("draft", "draft"), ("final", "final")]))
            .map(str::to_owned),
    };
    table.finish();
    Some(OperatorStatement::Stated(words))
}

fn operator(text: &str) -> Result<Operator, String> {
    match Operator::is_valid(text) {
        true => Ok(Operator::new(text)),
        false => Err(format!("{text:?} is not 1 to 128 visible ASCII characters without / : ~ and quotes")),
    }
}
