//! Decides whether a plan can be submitted. The checks that need no compilation run first.

use std::path::Path;

use latchwork_core::plan::{self, CheckedRequest, Kind, Violation};

use super::catalog;
use super::context::Context;
use super::error::{CliError, CliProblem};
use super::open;
use super::plan::{AcceptAllCatalog, plan_refused};
use crate::config::Config;
use crate::engine::LoadError;
use crate::registry::{Registry, Survey};

/// Refuses a plan that needs a refused plugin. No plugin is compiled for this check.
///
/// A plan with violations is also refused here if a plugin is not compiled yet. If every plugin is compiled, the full
/// check refuses the plan instead. The full check lists more problems, and with compiled plugins it is cheap.
pub(super) fn precheck(config: &Config, path: &Path, text: &[u8]) -> anyhow::Result<Survey> {
    let survey = open::survey(config);
    match plan::check_request(text, &AcceptAllCatalog) {
        Ok(request) => {
            let undoing = request.plan.steps.iter().filter_map(|step| step.compensate_with.as_deref());
            let names = request.plan.steps.iter().filter(|step| step.kind != Kind::Wait).map(|step| step.name.as_str());
            let undoing = undoing.filter(|name| *name != "self");
            if let Some(operator) = survey.needs_refused(names.chain(undoing)) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(open::operator_not_served(operator, &errors).into());
            }
        }
        Err(violations) => {
            if !survey.is_compiled(&catalog::engine(config)?) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(plan_refused(path, &violations).with_problems(open::problems(&errors)).into());
            }
        }
    }
    Ok(survey)
}

/// Returns the request if the loaded plugins serve the plan.
///
/// An operator may be missing because its plugin failed to load. In this case the error names the plugins that failed
/// to load. A plan with a step plugin is refused if any plugin failed to load, because a step may call any operator.
pub(super) fn require_served(
    registry: &Registry,
    path: &Path,
    checked: Result<CheckedRequest, Vec<Violation>>,
) -> Result<CheckedRequest, CliError> {
    let errors = registry.refused();
    match checked {
        Ok(request) => match registry.operator_needing_all_plugins(&request.plan) {
            Some(operator) => Err(open::step_plugin_needs_all(operator, errors)),
            None => Ok(request),
        },
        Err(violations) => {
            if errors.is_empty() || !violations.iter().any(is_missing_operator) {
                return Err(plan_refused(path, &violations));
            }
            let others = violations.iter().filter(|violation| !is_missing_operator(violation));
            Err(open::plugins_not_loaded(errors).with_problems(others.map(CliProblem::from)))
        }
    }
}

/// Returns true if the violation names an operator that no loaded plugin serves.
fn is_missing_operator(violation: &Violation) -> bool {
    // P023 is also reported for a compensating operator that exists but does not suit the step. Only the message shows
    // whether the operator is missing.
    violation.code == "P012" || violation.code == "P023" && violation.message.starts_with("no loaded plugin")
}

/// Warns about the plugins that could not be loaded. The command continues without them.
pub(super) fn warn_refused_plugins(ctx: &Context<'_>, registry: &Registry) {
    for error in registry.refused() {
        ctx.printer.warn(format!("{error}; see `latch explain {}`. The other plugins are loaded", error.page()));
    }
}
