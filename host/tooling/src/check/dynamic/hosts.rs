//! Alternative hosts that run a step.

use latchwork_core::model::manifest::Determinism;
use latchwork_engine::Engine;
use latchwork_engine::capability::settings::PluginSettings;

use crate::check::dynamic::host_inputs::{OtherProcess, RebuiltComponent};
use crate::check::variations::KnownValues;
use crate::units::size;

/// Returns the determinism class of the tool that serves an operator. Returns `None` if the class is not known.
pub type ClassOf<'a> = &'a (dyn Fn(&str) -> Option<Determinism> + Sync);

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
    /// Returns the determinism class of a tool by its operator, if it is known.
    pub(crate) class_of: ClassOf<'a>,
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
