//! Requests: a bare plan, or a plan together with its intent.

use serde_json::Value;

use super::check::PLAN_BYTES_MAX;
use super::{Catalog, Plan, Violation, check, expand};
use crate::encoding::canon;
use crate::model::mode::Mode;
use crate::plan::check::whole_request;

/// A checked request.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRequest {
    /// The plan in normal form.
    pub plan: Plan,
    /// Sorted JSON pointers, into the plan's normal form, to the values that the request's text omits.
    pub filled: Vec<String>,
    /// Intent of the request, or `None` for a bare plan.
    pub intent: Option<Intent>,
    /// Execution mode, if the request states one.
    pub mode: Option<Mode>,
    /// Id that distinguishes otherwise identical requests.
    pub request_id: Option<String>,
    /// Priority from -100 to 100, if the request states one. The priority is not part of the request's
    /// identity.
    pub priority: Option<i16>,
}

/// Intent of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    /// Type of the intent.
    pub intent_type: String,
    /// Payload of the intent.
    pub payload: Value,
    /// Contexts that come with the intent.
    pub contexts: Vec<Value>,
}

/// Checks the text of a request: `{intent: {type, payload, contexts?}, plan, mode?, request_id?, priority?}`,
/// or a bare plan.
///
/// # Errors
/// Returns every violation, in the order of the text. Pointers refer to the given text.
pub fn check_request(text: &[u8], catalog: &dyn Catalog) -> Result<CheckedRequest, Vec<Violation>> {
    let value = canon::parse_strict(text).ok().filter(|_| text.len() <= PLAN_BYTES_MAX).unwrap_or_default();
    if value.get("plan").is_none() && value.get("intent").is_none() {
        // The text is checked as a bare plan. A text that is neither a request nor a plan gets the errors of this
        // check.
        let plan = check(text, catalog)?;
        let filled = expand::omitted_values(&value, &plan);
        return Ok(CheckedRequest { plan, filled, intent: None, mode: None, request_id: None, priority: None });
    }
    let plan = whole_request::check(&value, text, catalog)?;
    let filled = expand::omitted_values(&value["plan"], &plan);
    let text_at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let contexts = value.pointer("/intent/contexts").and_then(Value::as_array).cloned().unwrap_or_default();
    let intent = Intent {
        intent_type: text_at("/intent/type").unwrap_or_default(),
        payload: value["intent"]["payload"].clone(),
        contexts,
    };
    let mode = value.get("mode").and_then(|mode| serde_json::from_value(mode.clone()).ok());
    let priority = value.get("priority").and_then(Value::as_i64).and_then(|number| i16::try_from(number).ok());
    Ok(CheckedRequest { plan, filled, intent: Some(intent), mode, request_id: text_at("/request_id"), priority })
}
