//! Comparison of the end of a repeated run of a step with its recorded end.

use latchwork_core::model::divergence::Divergence;
use latchwork_core::model::error::Code;
use latchwork_core::rules::policy;
use latchwork_engine::StepOutcome;

/// Compares the outcome of a repeated run with the recorded end: success, or the code of the failure. If both have an
/// output, `differs` compares the two, and returns the recorded output if it is another one.
pub fn compare_end(
    step: impl ToString,
    recorded: Result<(), Code>,
    outcome: &StepOutcome,
    differs: impl FnOnce(&str) -> Option<String>,
) -> Option<Divergence> {
    match (recorded, outcome) {
        (Ok(()), StepOutcome::Output(found)) => {
            differs(found).map(|recorded| Divergence::new(step, "output", "bytes", recorded, found))
        }
        (Err(recorded), StepOutcome::Failed(failure) | StepOutcome::Fault(failure)) => {
            (recorded != failure.code).then(|| Divergence::new(step, "failure", "code", recorded, failure.code))
        }
        // A policy refused the output, and the record does not contain it.
        (Err(Code::PolicyDenied), StepOutcome::Output(found)) if policy::may_be_refused(found.as_bytes()) => None,
        (Ok(()), found) => Some(Divergence::new(step, "output", "outcome", "an output", describe(found))),
        (Err(recorded), found) => Some(Divergence::new(step, "output", "outcome", recorded, describe(found))),
    }
}

fn describe(outcome: &StepOutcome) -> String {
    match outcome {
        StepOutcome::Output(_) => "an output".to_owned(),
        StepOutcome::Failed(failure) | StepOutcome::Fault(failure) => failure.to_string(),
        StepOutcome::Stopped => "a call that it stopped at".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use latchwork_core::model::error::Failure;

    use super::*;

    /// I19, I62: every difference between the two ends is found. An output that a policy refused is not recorded, so only an
    /// output that a policy can refuse equals such a record.
    #[test]
    fn ends_are_equal_only_with_equal_outputs_or_codes() {
        let output = |text: &str| StepOutcome::Output(text.to_owned());
        let failed = |code| StepOutcome::Failed(Failure::new(code, "a reason"));
        let fault = |code| StepOutcome::Fault(Failure::new(code, "a reason"));
        let verified = r#"{"citations":[1],"verified":true}"#;
        for (recorded, outcome, differs) in [
            (Ok("{}"), output("{}"), None),
            (Ok("{}"), output("[]"), Some(("bytes", "{}", "[]"))),
            (Ok("{}"), failed(Code::OutOfFuel), Some(("outcome", "an output", "OUT_OF_FUEL: a reason"))),
            (Ok("{}"), StepOutcome::Stopped, Some(("outcome", "an output", "a call that it stopped at"))),
            (Err(Code::OutOfFuel), fault(Code::OutOfFuel), None),
            (Err(Code::OutOfFuel), failed(Code::OutOfFuel), None),
            (Err(Code::OutOfFuel), fault(Code::PluginTrap), Some(("code", "OUT_OF_FUEL", "PLUGIN_TRAP"))),
            (Err(Code::OutOfFuel), output("{}"), Some(("outcome", "OUT_OF_FUEL", "an output"))),
            (Err(Code::PolicyDenied), output("{}"), None),
            (Err(Code::PolicyDenied), output(verified), Some(("outcome", "POLICY_DENIED", "an output"))),
            (Err(Code::PolicyDenied), fault(Code::PluginTrap), Some(("code", "POLICY_DENIED", "PLUGIN_TRAP"))),
        ] {
            let text = |found: &str| recorded.ok().filter(|recorded| *recorded != found).map(str::to_owned);
            let found = compare_end("s", recorded.map(|_| ()), &outcome, text);
            let difference = found.as_ref().map(|found| (found.field.as_str(), &*found.recorded, &*found.found));
            assert_eq!(difference, differs, "{recorded:?} {outcome:?}");
        }
    }
}
