//! Whether a plan can be submitted: everything that needs no compiling is decided first.

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

/// Refuses a plan whose violations, or whose plugins' problems, are known without compiling anything.
///
/// Where every plugin is compiled already, nothing is saved by that: the whole check follows, and lists what it finds.
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

/// A plan that is held against the loaded plugins. Those that could not be loaded are the reason where an operator is
/// not there, or where a step plugin may call any.
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
            // An operator that is not there may be one of theirs.
            let others = violations.iter().filter(|violation| !is_unserved(violation));
            Err(open::plugins(errors).with(others.map(Problem::from)))
        }
    }
}

/// Whether a violation names an operator that no loaded plugin serves.
fn is_unserved(violation: &Violation) -> bool {
    // What undoes a step may also be known and unfit for it.
    violation.code == "P012" || violation.code == "P023" && violation.message.starts_with("no loaded plugin")
}

/// Names the plugins that could not be loaded, to a command that goes on without them.
pub(super) fn warn(ctx: &Context<'_>, registry: &Registry) {
    for error in registry.refused() {
        ctx.printer.warn(format!("{error}; `latch explain {}` says more. The others are served", error.page()));
    }
}
