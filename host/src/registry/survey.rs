//! Checks the configured plugins for all problems that can be found without compiling.

use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::PluginKind;
use latchwork_engine::capability::settings::LoadSettings;
use latchwork_engine::{Engine, Explain, LoadError, PluginProblem};

use super::granted_folders::GrantedFolders;
use super::source;
use crate::config::{Config, PluginConfig};

/// Results of the survey, in the order of the configuration.
#[derive(Clone)]
pub struct Survey {
    pub(super) plugins: Vec<Result<SurveyedPlugin, LoadError>>,
}

/// A plugin in which the survey found no problem.
#[derive(Clone)]
pub(super) struct SurveyedPlugin {
    pub(super) bytes: Vec<u8>,
    /// Kind of the plugin. `None` if the component names no Latchwork interface, and may therefore be an untyped
    /// component.
    kind: Option<PluginKind>,
}

impl Survey {
    /// Reads every configured plugin and checks its digest, grants and settings. `explain` adds details to refusals.
    pub fn of(config: &Config, explain: Explain) -> Self {
        let folders = GrantedFolders::of(config);
        Self { plugins: config.plugins.iter().map(|plugin| survey_plugin(plugin, &folders, explain)).collect() }
    }

    /// Returns true if all plugins that were not refused can be loaded without compiling.
    pub fn is_compiled(&self, engine: &Engine) -> bool {
        self.accepted().all(|seen| engine.is_compiled(&seen.bytes))
    }

    fn accepted(&self) -> impl Iterator<Item = &SurveyedPlugin> {
        self.plugins.iter().filter_map(|seen| seen.as_ref().ok())
    }

    /// Returns the errors of the plugins that the survey refused.
    pub fn refused(&self) -> impl Iterator<Item = &LoadError> {
        self.plugins.iter().filter_map(|seen| seen.as_ref().err())
    }

    /// Returns the first operator of a plan that may need a refused plugin. `operators` are the operators of the plan.
    ///
    /// The operators of a plugin are known only after the plugin is compiled. This function therefore searches the
    /// bytes of the accepted tools for the name of each operator. If no accepted tool contains the name, the operator
    /// is returned: either a refused plugin serves the operator, or a step plugin does. A step plugin may call any
    /// operator of a refused plugin.
    ///
    /// The function returns `None` if an accepted plugin may be an untyped component. The names of its operators are
    /// derived from its exports, so an untyped component may serve any operator.
    pub fn needs_refused<'n>(&self, operators: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        self.refused().next()?;
        if self.accepted().any(|seen| seen.kind.is_none()) {
            return None;
        }
        let tools: Vec<&SurveyedPlugin> = self.accepted().filter(|seen| seen.kind == Some(PluginKind::Tool)).collect();
        operators
            .into_iter()
            .find(|operator| !tools.iter().any(|tool| contains_bytes(&tool.bytes, operator.as_bytes())))
    }
}

fn survey_plugin(
    config: &PluginConfig,
    folders: &GrantedFolders,
    explain: Explain,
) -> Result<SurveyedPlugin, LoadError> {
    let refuse = |problems| LoadError { plugin: config.name.clone(), problems };
    // An open job may have pinned an earlier component of this plugin. The folders are therefore checked even if the
    // configured component cannot be read.
    let mut problems = folders.problems(&config.grants.dirs);
    let bytes = match read_component(config) {
        Ok(bytes) => bytes,
        Err(problem) => {
            problems.insert(0, problem);
            return Err(refuse(problems));
        }
    };
    problems.extend(source::missing_dirs(&config.grants.dirs));
    if !problems.is_empty() {
        return Err(refuse(problems));
    }
    let kind = Engine::check_without_compiling(
        &bytes,
        LoadSettings {
            name: &config.name,
            grants: &config.grants,
            wasi: config.wasi,
            has_operator_overrides: !config.operators.is_empty(),
            component_bytes_max: config.limits.max_component_bytes(),
        },
        explain,
    )?;
    if kind == Some(PluginKind::Step) && configures_confirmation(config) {
        return Err(refuse(vec![PluginProblem::ConfirmationOnStep]));
    }
    Ok(SurveyedPlugin { bytes, kind })
}

/// Reads the configured component and checks its digest.
fn read_component(config: &PluginConfig) -> Result<Vec<u8>, PluginProblem> {
    let bytes = source::read(&config.source, config.limits.max_component_bytes())?;
    let found = Hash::of(&[&bytes]);
    match config.digest.filter(|expected| *expected != found) {
        Some(expected) => Err(PluginProblem::Digest { expected, found }),
        None => Ok(bytes),
    }
}

/// Returns true if the configuration sets a verifier or a confirmation rule for the plugin.
pub(super) fn configures_confirmation(config: &PluginConfig) -> bool {
    config.verifier.is_some() || config.confirmation.is_some()
}

fn contains_bytes(bytes: &[u8], name: &[u8]) -> bool {
    let Some(first) = name.first() else { return true };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        if rest[at..].starts_with(name) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}
