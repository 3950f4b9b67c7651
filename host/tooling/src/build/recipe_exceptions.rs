//! Exceptions of a recipe: findings of `latch plugin check` that the author accepts, each with a reason.

use latchwork::located_toml::{TableReader, TomlField};
use latchwork_core::model::error_docs;

/// Findings that the author of a plugin accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleException {
    /// Id of the rule.
    pub rule: String,
    /// Operator of the findings. `None` for all operators.
    pub operator: Option<String>,
    /// Function that is in the call stack of the findings. `None` for all functions.
    pub function: Option<String>,
    /// Reason why the findings are accepted.
    pub reason: String,
}

/// Reads the key `exception` of a recipe, a list of tables.
pub(super) fn exceptions(document: &mut TableReader<'_>) -> Vec<RuleException> {
    document.get("exception").map(|field| field.list(|item| exception(&item))).unwrap_or_default()
}

fn exception(item: &TomlField<'_>) -> Option<RuleException> {
    let mut table = item.table()?;
    table.refuse_other_keys(&["rule", "operator", "function", "reason"]);
    let rule = table.require("rule").and_then(|field| field.parse(rule_id));
    let mut named = |key: &'static str| table.get(key).and_then(|field| text(&field));
    let (operator, function) = (named("operator"), named("function"));
    if operator.is_none() && function.is_none() {
        let message = "missing: name the operator or the function of the findings";
        table.problem("operator", error_docs::CONFIG_MISSING_KEY, message);
    }
    let reason = table.require("reason").and_then(|field| text(&field));
    Some(RuleException { rule: rule?, operator, function, reason: reason? })
}

fn rule_id(text: &str) -> Result<String, String> {
    match text.strip_prefix('D') {
        Some(number) if number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(text.to_owned()),
        _ => Err(format!("{text:?} is not the id of a rule: write one such as \"D064\"")),
    }
}

fn text(field: &TomlField<'_>) -> Option<String> {
    field.parse(|text| match text.trim() {
        "" => Err("must not be empty".to_owned()),
        text => Ok(text.to_owned()),
    })
}
