//! Decides whether a plan can be submitted. The checks that need no compilation run first.

use std::path::Path;

use latchwork_core::plan::{self, Kind, Request, Violation};

use super::catalog;
use super::context::Context;
use super::error::{CliError, Problem};
use super::open;
use super::plan::{Unchecked, refused};
use crate::config::Config;
use crate::engine::LoadError;
use crate::registry::{Registry, Survey};

/// Refuses a plan with violations or plugin problems that are known without compiling a plugin.
///
/// If every plugin is already compiled, violations are not refused here. The full check that follows is then
/// cheap and lists more problems.
pub(super) fn first_look(config: &Config, path: &Path, text: &[u8]) -> anyhow::Result<Survey> {
    let survey = open::survey(config);
    match plan::check_request(text, &Unchecked) {
        Ok(request) => {
            let undoing = request.plan.steps.iter().filter_map(|step| step.compensate_with.as_deref());
            let names = request.plan.steps.iter().filter(|step| step.kind != Kind::Wait).map(|step| step.name.as_str());
            let undoing = undoing.filter(|name| *name != "self");
            if let Some(operator) = survey.needs_refused(names.chain(undoing)) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(open::needed(operator, &errors).into());
            }
        }
        Err(violations) => {
            if !survey.is_compiled(&catalog::engine(config)?) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(refused(path, &violations).with(open::problems(&errors)).into());
            }
        }
    }
    Ok(survey)
}

/// Returns the request if the loaded plugins serve the plan.
///
/// Plugins that failed to load are reported as the cause if an operator is missing. The same holds if a step
/// plugin may call any operator.
pub(super) fn checked(
    registry: &Registry,
    path: &Path,
    checked: Result<Request, Vec<Violation>>,
) -> Result<Request, CliError> {
    let errors = registry.refused();
    match checked {
        Ok(request) => match registry.lacking(&request.plan) {
            Some(operator) => Err(open::lacking(operator, errors)),
            None => Ok(request),
        },
        Err(violations) => {
            if errors.is_empty() || !violations.iter().any(is_unserved) {
                return Err(refused(path, &violations));
            }
            // A plugin that failed to load may serve the missing operator.
            let others = violations.iter().filter(|violation| !is_unserved(violation));
            Err(open::plugins(errors).with(others.map(Problem::from)))
        }
    }
}

/// Returns true if the violation names an operator that no loaded plugin serves.
fn is_unserved(violation: &Violation) -> bool {
    // P023 is also reported if the compensating operator is known but unsuitable for the step.
    violation.code == "P012" || violation.code == "P023" && violation.message.starts_with("no loaded plugin")
}

/// Warns about the plugins that could not be loaded. The command continues without them.
pub(super) fn warn(ctx: &Context<'_>, registry: &Registry) {
    for error in registry.refused() {
        ctx.printer.warn(format!("{error}; see `latch explain {}`. The other plugins are loaded", error.page()));
    }
}
