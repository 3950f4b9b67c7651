//! Checks the answer of a tool: its size, and the rules for JSON.

use serde::de::IgnoredAny;

use latchwork_core::model::bounds;
use latchwork_core::model::effect::Output;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::Limits;

use crate::engine::schema;
use crate::guest::json_gate;
use crate::guest::limits::oversized;

/// Checks size and format of a tool's answer.
pub(crate) fn check_tool_output(
    output: &Output,
    limits: &Limits,
    schema: Option<&schema::Schemas>,
) -> Result<(), Failure> {
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    if output.state_changes.len() > bounds::STATE_CHANGES {
        // Each change becomes an event.
        let (count, max) = (output.state_changes.len(), bounds::STATE_CHANGES);
        let message = format!("the answer has {count} {} {max} are allowed", json_gate::TOO_MANY_CHANGES);
        return Err(Failure::new(Code::OutputLimit, message));
    }
    let usage = output.usage.as_ref();
    let model_bytes = usage.map_or(0, |usage| optional(&usage.model));
    if model_bytes > bounds::MODEL_NAME_BYTES {
        // The stored sums of the costs have the name of the model in their key.
        let max = bounds::MODEL_NAME_BYTES;
        let message = format!("the name of the model has {model_bytes} bytes; at most {max} are allowed");
        return Err(Failure::new(Code::OutputLimit, message));
    }
    let usage = usage.map_or(0, |usage| optional(&usage.model) + optional(&usage.provider_trace_id));
    let changes: usize = output
        .state_changes
        .iter()
        .map(|change| {
            change.resource_type.len()
                + change.resource_id.len()
                + change.operation.len()
                + optional(&change.version)
                + optional(&change.etag)
                + optional(&change.external_ref)
        })
        .sum();
    let len = output.result.len() + optional(&output.receipt) + changes + usage;
    if len > limits.output_bytes as usize {
        return Err(oversized(len, limits));
    }
    let refused = |why: String| Failure::new(Code::SchemaValidationFailed, why);
    let value = json_gate::parse("the result", &output.result).map_err(refused)?;
    if let Some(receipt) = &output.receipt {
        // A receipt is evidence of another party, and no step reads it. It is kept in the form of that party.
        serde_json::from_str::<IgnoredAny>(receipt)
            .map_err(|error| refused(format!("the receipt is not JSON: {error}")))?;
    }
    schema.map_or(Ok(()), |schema| schema.check_output(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: &str, receipt: Option<&str>) -> Result<(), Failure> {
        let output = Output {
            result: result.to_owned(),
            receipt: receipt.map(str::to_owned),
            state_changes: vec![],
            usage: None,
        };
        check_tool_output(&output, &Limits::default(), None)
    }

    /// I249: a result without a canonical form is refused with the place, like the output of a step.
    #[test]
    fn result_without_canonical_form_is_refused_with_the_place() {
        check(r#"{"v":[1.5,null,"\u00e9"]}"#, None).unwrap();
        let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
        for (result, reason) in [
            (r#"{"v":1,"v":2}"#, "at byte 7: the key \"v\" appears twice"),
            (r#"{"x":1e400}"#, "at byte 5: the number 1e400 is beyond the range"),
            (r#"{"x":9007199254740993}"#, "at byte 5: the integer 9007199254740993 cannot be held exactly"),
            (r#"{"x":"\ud800"}"#, "half of a surrogate pair"),
            (&deep, "nested deeper than 64 levels"),
        ] {
            let failure = check(result, None).unwrap_err();
            assert_eq!(failure.code, Code::SchemaValidationFailed);
            let starts = failure.message.starts_with("the result has no canonical form: at byte ");
            assert!(starts && failure.message.contains(reason), "{result}: {failure}");
        }
        assert!(check("[1,", None).unwrap_err().message.starts_with("the result is not JSON: at byte 3"));
    }

    /// A receipt is kept in the form of the other party. It must be JSON.
    #[test]
    fn receipt_is_any_json() {
        check("1", Some(r#"{"id":9007199254740993}"#)).unwrap();
        assert!(check("1", Some("{")).unwrap_err().message.starts_with("the receipt is not JSON"));
    }
}
