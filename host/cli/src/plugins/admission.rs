//! Checks of a plan before its submission. The checks that need no compilation run first.

use std::path::Path;

use serde_json::Value;

use latchwork::config::Config;
use latchwork::registry::{Registry, Survey};
use latchwork_core::model::error_docs;
use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_core::plan;
use latchwork_core::plan::{Catalog, CheckedRequest, OperatorInfo, SchemaMismatch, StepKind, Violation};
use latchwork_engine::LoadError;

use crate::context::CommandContext;
use crate::error::{CliError, CliProblem, operator_not_served, plugins_not_loaded, problems_of, step_plugin_needs_all};
use crate::open;
use crate::plugins::catalog;

/// Refuses a plan that needs a refused plugin. No plugin is compiled for this check.
///
/// A plan with violations is refused here only if at least one plugin is not compiled yet. If all plugins are compiled,
/// this function leaves the plan to the full check. The full check lists more problems, and is cheap with compiled
/// plugins.
pub(crate) fn precheck(ctx: &CommandContext<'_>, config: &Config, path: &Path, text: &[u8]) -> anyhow::Result<Survey> {
    let survey = open::survey(config);
    match plan::check_request(text, &AcceptAllCatalog) {
        Ok(request) => {
            let undoing = request.plan.steps.iter().filter_map(|step| step.compensate_with.as_deref());
            let names =
                request.plan.steps.iter().filter(|step| step.kind != StepKind::Wait).map(|step| step.name.as_str());
            let undoing = undoing.filter(|name| *name != "self");
            if let Some(operator) = survey.needs_refused(names.chain(undoing)) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(operator_not_served(operator, &errors).into());
            }
        }
        Err(violations) => {
            if !survey.is_compiled(&catalog::engine(ctx.session(), config)?) {
                let errors: Vec<LoadError> = survey.refused().cloned().collect();
                return Err(plan_refused(path, &violations).with_problems(problems_of(&errors)).into());
            }
        }
    }
    Ok(survey)
}

/// Returns the request if the loaded plugins serve the plan.
///
/// If an operator is missing, the error names the plugins that failed to load, because one of them may serve the
/// operator. A plan with a step plugin is refused if any plugin failed to load, because a step may call any operator.
pub(crate) fn require_served(
    registry: &Registry,
    path: &Path,
    checked: Result<CheckedRequest, Vec<Violation>>,
) -> Result<CheckedRequest, CliError> {
    let errors = registry.refused();
    match checked {
        Ok(request) => match registry.operator_needing_all_plugins(&request.plan) {
            Some(operator) => Err(step_plugin_needs_all(operator, errors)),
            None => Ok(request),
        },
        Err(violations) => {
            if errors.is_empty() || !violations.iter().any(is_missing_operator) {
                return Err(plan_refused(path, &violations));
            }
            let others = violations.iter().filter(|violation| !is_missing_operator(violation));
            Err(plugins_not_loaded(errors).with_problems(others.map(CliProblem::from)))
        }
    }
}

/// Returns true if the violation names an operator that no loaded plugin serves.
fn is_missing_operator(violation: &Violation) -> bool {
    // P023 covers two problems: an operator is missing, or a compensating operator exists but does not suit the step.
    // Only the message tells the two apart.
    violation.code == "P012" || violation.code == "P023" && violation.message.starts_with("no loaded plugin")
}

/// Warns about the plugins that could not be loaded. The command continues without them.
pub(crate) fn warn_refused_plugins(ctx: &CommandContext<'_>, registry: &Registry) {
    for error in registry.refused() {
        ctx.printer.warn(format!("{error}; see `latch explain {}`. The other plugins are loaded", error.page()));
    }
}

/// Catalog that accepts every operator with any effects, for checks without plugins.
pub(crate) struct AcceptAllCatalog;

impl Catalog for AcceptAllCatalog {
    fn operator(&self, _name: &str) -> Option<OperatorInfo> {
        // Counts the operator as `stable`, so that the check reports no problem of determinism. A plan may use a stable
        // operator at every place, even in a model step.
        Some(OperatorInfo {
            effects: vec![],
            determinism: Determinism::Stable,
            kind: PluginKind::Tool,
            compensate: true,
        })
    }

    fn knows_operators(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn schema_mismatches(&self, schema: &Value, value: &Value) -> Result<Vec<SchemaMismatch>, String> {
        latchwork_engine::schema::misfits(schema, value)
    }
}

/// Returns the error that lists every violation, in the order of the plan's text.
pub(crate) fn plan_refused(path: &Path, violations: &[Violation]) -> CliError {
    let count = match violations.len() {
        1 => "a problem".to_owned(),
        n => format!("{n} problems"),
    };
    CliError::input(error_docs::PLAN_REFUSED, format!("{} is refused: it has {count}", path.display()))
        .with_problems(violations.iter().map(CliProblem::from))
}
