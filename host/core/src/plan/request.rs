//! Requests: a bare plan, or a plan with the intent it is to fulfil.

use serde_json::Value;

use super::check::{PLAN_BYTES_MAX, whole};
use super::{Catalog, Plan, Violation, check, expand};
use crate::canon;
use crate::event::Mode;

/// A checked request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its plan in normal form.
    pub plan: Plan,
    /// What its text leaves out: pointers into the normal form, sorted.
    pub filled: Vec<String>,
    /// What it is for; none for a bare plan.
    pub intent: Option<Intent>,
    /// How it is executed, where it says so.
    pub mode: Option<Mode>,
    /// Tells apart requests that are otherwise the same.
    pub request_id: Option<String>,
    /// How urgent it is, from -100 to 100, where it says so; no part of its identity.
    pub priority: Option<i16>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// Its type.
    pub intent_type: String,
    /// Its payload.
    pub payload: Value,
    /// What comes with it.
    pub contexts: Vec<Value>,
}

/// Check the text of a request: `{intent: {type, payload, contexts?}, plan, mode?, request_id?, priority?}`,
/// or a bare plan.
///
/// # Errors
/// Every violation, in the order of the text; pointers are into the text that was given.
pub fn check_request(text: &[u8], catalog: &dyn Catalog) -> Result<Request, Vec<Violation>> {
    let value = canon::parse_strict(text).ok().filter(|_| text.len() <= PLAN_BYTES_MAX).unwrap_or_default();
    if value.get("plan").is_none() && value.get("intent").is_none() {
        // The plan's own check also says what is wrong with a text that is neither.
        let plan = check(text, catalog)?;
        let filled = expand::filled(&value, &plan);
        return Ok(Request { plan, filled, intent: None, mode: None, request_id: None, priority: None });
    }
    let plan = whole::check(&value, text, catalog)?;
    let filled = expand::filled(&value["plan"], &plan);
    let text_at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let contexts = value.pointer("/intent/contexts").and_then(Value::as_array).cloned().unwrap_or_default();
    let intent = Intent {
        intent_type: text_at("/intent/type").unwrap_or_default(),
        payload: value["intent"]["payload"].clone(),
        contexts,
    };
    let mode = value.get("mode").and_then(|mode| serde_json::from_value(mode.clone()).ok());
    let priority = value.get("priority").and_then(Value::as_i64).and_then(|number| i16::try_from(number).ok());
    Ok(Request { plan, filled, intent: Some(intent), mode, request_id: text_at("/request_id"), priority })
}
