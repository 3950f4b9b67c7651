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

/// Refuses, without compiling a plugin, a plan that needs a refused plugin.
///
/// A plan with violations is also refused here, unless every plugin is already compiled. In that case the full
/// check, which follows and lists more problems, is cheap, so it refuses the plan.
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
/// If an operator is missing and plugins failed to load, the error names these plugins, because one of them
/// may serve the operator. A plan with a step plugin is refused if any plugin failed to load, because a step
/// may call any operator.
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
            // A plugin that failed to load may serve the missing operator.
            let others = violations.iter().filter(|violation| !is_missing_operator(violation));
            Err(open::plugins_not_loaded(errors).with_problems(others.map(CliProblem::from)))
        }
    }
}

/// Returns true if the violation names an operator that no loaded plugin serves.
fn is_missing_operator(violation: &Violation) -> bool {
    // P023 is also reported if the compensating operator exists but does not suit the step. Only the message of a
    // P023 shows whether the operator is missing.
    violation.code == "P012" || violation.code == "P023" && violation.message.starts_with("no loaded plugin")
}

/// Warns about the plugins that could not be loaded. The command continues without them.
pub(super) fn warn_refused_plugins(ctx: &Context<'_>, registry: &Registry) {
    for error in registry.refused() {
        ctx.printer.warn(format!("{error}; see `latch explain {}`. The other plugins are loaded", error.page()));
    }
}
