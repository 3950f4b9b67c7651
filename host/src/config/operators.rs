//! `operators` of a `[[plugin]]`: declarations for an untyped component, which cannot declare them itself.

use std::collections::BTreeMap;

use latchwork_core::ids::Operator;
use latchwork_core::manifest::{Determinism, Effect};

use super::document::{Field, Table};

const DETERMINISM: [(&str, Determinism); 3] =
    [("pure", Determinism::Pure), ("stable", Determinism::Stable), ("external", Determinism::External)];

/// Declaration about one function or one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatorStatement {
    /// `false`: the function is not offered as an operator.
    LeftOut,
    /// A table of declarations.
    Stated(OperatorWords),
}

/// Declarations in a table. Everything else is derived from the component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorWords {
    /// Name of the operator, instead of the derived name.
    pub name: Option<Operator>,
    /// Description in one sentence.
    pub description: Option<String>,
    /// Effects that a call may have on the outside world.
    pub effects: Option<Vec<Effect>>,
    /// Determinism class of the operator.
    pub determinism: Option<Determinism>,
    /// Type of the outcome that the operator produces.
    pub outcome_type: Option<String>,
    /// Status of the outcome: `draft` or `final`.
    pub outcome_status: Option<String>,
}

/// Reads all declarations, keyed by function, operator or interface.
pub(super) fn read(mut table: Table<'_>) -> BTreeMap<String, OperatorStatement> {
    let entries = table.entries().into_iter();
    entries.filter_map(|(key, field)| Some((key.to_owned(), statement(&field)?))).collect()
}

fn statement(field: &Field<'_>) -> Option<OperatorStatement> {
    match field.value().as_bool() {
        Some(false) => return Some(OperatorStatement::LeftOut),
        Some(true) => {
            return field.invalid("`true` is not needed: every function is an operator unless it is set to `false`");
        }
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
        false => Err(format!(
            "invalid operator name {text:?}: use 1 to 128 visible ASCII characters without / : ~ and quotes"
        )),
    }
}
