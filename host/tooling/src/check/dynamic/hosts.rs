//! Alternative hosts that run a step.

use latchwork_core::model::manifest::{Determinism, EffectKind};
use latchwork_engine::Engine;
use latchwork_engine::capability::settings::PluginSettings;

use crate::check::dynamic::host_inputs::{OtherProcess, RebuiltComponent};
use crate::check::variations::KnownValues;
use crate::units::size;

/// The declaration of an operator of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDeclaration {
    /// Determinism class.
    pub determinism: Determinism,
    /// Effects on the world.
    pub effects: Vec<EffectKind>,
}

/// Returns the declaration of the tool that serves an operator. Returns `None` if the tool is not known.
pub type DeclarationOf<'a> = &'a (dyn Fn(&str) -> Option<ToolDeclaration> + Sync);

/// Inputs for loading the component in alternative hosts.
pub(crate) struct HostVariants<'a> {
    /// The engine of the usual run.
    pub(crate) engine: &'a Engine,
    /// Bytes of the component.
    pub(crate) bytes: &'a [u8],
    /// Path of the component, for findings.
    pub(crate) file: &'a str,
    /// Settings of the plugin.
    pub(crate) settings: &'a PluginSettings,
    /// Command line of the other process.
    pub(crate) process: Option<&'a OtherProcess>,
    /// Another build of the same sources.
    pub(crate) rebuilt: Option<&'a RebuiltComponent>,
    /// Texts and numbers in the plugin's sources.
    pub(crate) known: &'a KnownValues,
    /// Returns the declaration of a tool by its operator, if it is known.
    pub(crate) declaration_of: DeclarationOf<'a>,
    /// Receives a message before each slow part.
    pub(crate) progress: &'a (dyn Fn(&str) + Sync),
}

impl HostVariants<'_> {
    /// Reports a compilation that is about to begin. Reports nothing if the compiled code is cached.
    pub(super) fn announce_compilation(&self, engine: &Engine, bytes: &[u8], how: &str) {
        if !engine.is_compiled(bytes) {
            (self.progress)(&format!("compiling {} {how}, to compare", name_and_size(self.settings, bytes)));
        }
    }
}

/// Name and size of a component for progress messages.
pub(crate) fn name_and_size(settings: &PluginSettings, bytes: &[u8]) -> String {
    format!("{} ({})", settings.name, size(bytes.len()))
}
