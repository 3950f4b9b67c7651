//! A case with the trace of its usual run.

use serde_json::Value;

use latchwork_engine::Plugin;

use crate::check::dynamic::case::StepCase;
use crate::check::dynamic::script::RunScript;
use crate::check::dynamic::trace::{FirstDifference, Trace};
use crate::check::finding::Finding;

/// A case, its script and the trace of its usual run.
pub(crate) struct CaseBaseline<'a> {
    pub(super) case: &'a StepCase,
    pub(super) script: RunScript,
    pub(super) base: Trace,
}

impl CaseBaseline<'_> {
    /// Returns the input of the case, and the schema of its operator.
    pub(super) fn input_and_schema(&self, plugin: &Plugin) -> (Value, Value) {
        let input = serde_json::from_str(&self.case.input).expect("a case's input is JSON");
        let spec = plugin.operator(&self.case.operator).expect("cases are of operators that are served");
        (input, serde_json::from_str(&spec.input_schema).unwrap_or_default())
    }

    /// Creates a finding about this case.
    pub(super) fn finding(&self, rule: &str, message: impl Into<String>) -> Finding {
        finding_about(self.case, rule, message)
    }
}

/// Creates a finding about a case.
pub(crate) fn finding_about(case: &StepCase, rule: &str, message: impl Into<String>) -> Finding {
    let finding = Finding::new(rule, &case.place.file, message);
    finding.at(case.place.line).of(&case.operator).case(&case.name)
}

/// Creates a finding of D066: a difference between two runs that must be equal.
pub(super) fn host_difference(ran: &CaseBaseline<'_>, host: &str, parting: &FirstDifference, trace: &Trace) -> Finding {
    let message = format!("{host}, it behaves differently: {} differs", parting.what);
    let finding = ran.finding("D066", message).values(&parting.expected, &parting.found);
    finding.functions(trace.functions.clone())
}
