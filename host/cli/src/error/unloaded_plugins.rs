//! Errors about plugins that could not be loaded.

use latchwork_core::model::error_docs;
use latchwork_core::model::ids::Operator;
use latchwork_engine::LoadError;

use crate::error::cli_error::CliError;
use crate::error::problem::CliProblem;

/// Returns the error that lists every plugin that could not be loaded, with its code.
pub(crate) fn plugins_not_loaded(errors: &[LoadError]) -> CliError {
    let first = errors.first().map_or(error_docs::DEFECT, LoadError::page);
    let message = match errors.len() {
        1 => "a plugin could not be loaded".to_owned(),
        n => format!("{n} plugins could not be loaded"),
    };
    CliError::input(first, message).with_problems(problems_of(errors))
}

/// Returns every problem of the plugins that could not be loaded.
pub(crate) fn problems_of(errors: &[LoadError]) -> impl Iterator<Item = CliProblem> {
    let each = errors.iter().flat_map(|error| error.problems.iter().map(move |problem| (error.plugin(), problem)));
    each.map(|(plugin, problem)| CliProblem {
        location: format!("plugin {plugin}"),
        code: problem.page().to_owned(),
        message: problem.to_string(),
        json: serde_json::json!({ "plugin": plugin, "code": problem.page(), "message": problem.to_string() }),
    })
}

/// Returns the error of a plan that uses a step plugin while some plugins are not loaded. The plan is refused, because
/// the step may call an operator of any plugin.
pub(crate) fn step_plugin_needs_all(operator: &Operator, errors: &[LoadError]) -> CliError {
    refused_without_plugins(format!("the step plugin of {operator} may call any operator"), errors)
}

/// Returns the error of a plan that is refused before any compilation, because no accepted tool serves `operator`.
pub(crate) fn operator_not_served(operator: &str, errors: &[LoadError]) -> CliError {
    refused_without_plugins(
        format!("{operator} belongs to a step plugin, which may call any operator, or to no loaded plugin"),
        errors,
    )
}

fn refused_without_plugins(why: String, errors: &[LoadError]) -> CliError {
    let names: Vec<&str> = errors.iter().map(LoadError::plugin).collect();
    let names = names.join(", ");
    let message = format!(
        "{why}, and {names} could not be loaded; fix the listed problems, or remove the plugin from latch.toml"
    );
    CliError::input(errors.first().map_or(error_docs::DEFECT, LoadError::page), message)
        .with_problems(problems_of(errors))
}
