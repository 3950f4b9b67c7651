//! A first look at the configured plugins: everything that can be refused without compiling.

use latchwork_core::ids::Hash;
use latchwork_core::manifest::PluginKind;

use super::source;
use crate::config::{Config, PluginConfig};
use crate::engine::{Engine, LoadError, Problem, Terms};

/// The configured plugins after a first look, in the order of the configuration.
#[derive(Clone)]
pub struct Survey {
    pub(super) seen: Vec<Result<Seen, LoadError>>,
}

/// A plugin that nothing is known against yet.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) bytes: Vec<u8>,
    /// Its world; none where only its types tell.
    kind: Option<PluginKind>,
}

impl Survey {
    /// Read every configured plugin and hold it against its digest, its grants and its settings.
    pub fn of(config: &Config) -> Self {
        Self { seen: config.plugins.iter().map(look).collect() }
    }

    /// Whether loading what is left takes no compiling.
    pub fn is_compiled(&self, engine: &Engine) -> bool {
        self.sound().all(|seen| engine.is_compiled(&seen.bytes))
    }

    fn sound(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter_map(|seen| seen.as_ref().ok())
    }

    /// The plugins that are refused already.
    pub fn refused(&self) -> impl Iterator<Item = &LoadError> {
        self.seen.iter().filter_map(|seen| seen.as_ref().err())
    }

    /// The first of a plan's operators that cannot do without the plugins that are refused.
    ///
    /// What a plugin serves is known once it is compiled. Until then the name of a tool's operator is looked for in the
    /// bytes of the tools: a name that no sound tool contains is that of a step plugin, which may call any operator, or
    /// of a refused plugin. A plain component makes its operators' names from its exports, so that any may be its own.
    pub fn needs_refused<'n>(&self, operators: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        self.refused().next()?;
        if self.sound().any(|seen| seen.kind.is_none()) {
            return None;
        }
        let tools: Vec<&Seen> = self.sound().filter(|seen| seen.kind == Some(PluginKind::Tool)).collect();
        operators.into_iter().find(|operator| !tools.iter().any(|tool| contains(&tool.bytes, operator.as_bytes())))
    }
}

fn look(config: &PluginConfig) -> Result<Seen, LoadError> {
    let refuse = |problem| LoadError::one(&config.name, problem);
    let bytes = source::read(&config.source).map_err(refuse)?;
    let found = Hash::of(&[&bytes]);
    if let Some(expected) = config.digest.filter(|expected| *expected != found) {
        return Err(refuse(Problem::Digest { expected, found }));
    }
    let missing = source::missing_dirs(&config.grants.dirs);
    if !missing.is_empty() {
        return Err(LoadError { plugin: config.name.clone(), problems: missing });
    }
    let kind = Engine::examine(
        &bytes,
        Terms {
            name: &config.name,
            grants: &config.grants,
            wasi: config.wasi,
            states_operators: !config.operators.is_empty(),
        },
    )?;
    if kind == Some(PluginKind::Step) && is_confirmed(config) {
        return Err(refuse(Problem::StepConfirmed));
    }
    Ok(Seen { bytes, kind })
}

/// Whether the configuration says what confirms a plugin's effects.
pub(super) fn is_confirmed(config: &PluginConfig) -> bool {
    config.verifier.is_some() || config.confirmation.is_some()
}

fn contains(bytes: &[u8], name: &[u8]) -> bool {
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
