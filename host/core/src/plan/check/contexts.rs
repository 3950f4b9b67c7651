//! Rule about contexts named in `hashes`: each context must come with the request.

use super::report::{ViolationReport, rule};
use super::view::StepFields;
use crate::encoding::suggest::did_you_mean;
use crate::plan::bindings::child;
use crate::plan::context_name;

/// Checks the `hashes` of all steps against the contexts of the request. A bare plan has no contexts.
pub(super) fn check(steps: &[StepFields<'_>], contexts: &[&str], report: &mut ViolationReport) {
    for step in steps {
        for (entry, value) in step.hashes().filter(|(_, value)| value.get("$context").is_some()) {
            let at = child(&step.pointer("hashes"), entry);
            let Some(name) = context_name(value) else {
                let message = "a context is named by `{\"$context\": \"name\"}` and nothing else";
                report.add(at, rule::UNKNOWN_CONTEXT, message);
                continue;
            };
            if contexts.contains(&name) {
                continue;
            }
            let message = if contexts.is_empty() {
                format!(
                    "`{name}` names a context, but the request has no contexts: submit a request whose intent has `contexts`"
                )
            } else {
                let close = did_you_mean(name, contexts.iter().copied());
                format!("no context of the request is named `{name}`{close}")
            };
            report.add(at, rule::UNKNOWN_CONTEXT, message);
        }
    }
}
