//! Alternative hosts under which a step is run.

use std::sync::Arc;

use super::again::Process;
use super::builds::{self, Rebuilt};
use super::moved;
use crate::check::finding::Finding;
use crate::check::named;
use crate::check::report::Report;
use crate::engine::{Engine, EngineError, Plugin, PluginSettings, Variation};

/// Inputs for loading the component in alternative hosts.
pub(crate) struct Hosts<'a> {
    /// The engine of the usual run.
    pub(crate) engine: &'a Engine,
    /// Bytes of the component.
    pub(crate) bytes: &'a [u8],
    /// Path of the component, for findings.
    pub(crate) file: &'a str,
    /// Settings of the plugin.
    pub(crate) settings: &'a PluginSettings,
    /// Command line of the other process.
    pub(crate) process: Option<&'a Process>,
    /// Another build of the same sources.
    pub(crate) rebuilt: Option<&'a Rebuilt>,
    /// Receives a message before each slow part.
    pub(crate) progress: &'a (dyn Fn(&str) + Sync),
}

/// The component loaded in alternative hosts. `None` for a host in which it cannot be loaded. That failure is
/// a finding or a reason why a rule was not checked.
pub(super) struct Loaded {
    pub(super) apart: Option<Arc<Plugin>>,
    pub(super) unoptimized: Option<Arc<Plugin>>,
    /// The component with a changed memory layout.
    pub(super) moved: Option<Arc<Plugin>>,
    pub(super) rebuilt: Option<builds::Other>,
}

impl Hosts<'_> {
    pub(super) fn load(&self, plugin: &Plugin, report: &mut Report) -> Loaded {
        let apart = self.varied(Variation::Apart, "D062", "with half the stack it cannot be loaded", report);
        let message = "compiled without optimization it cannot be loaded";
        let unoptimized = self.varied(Variation::Unoptimized, "D066", message, report);
        let rebuilt = match self.rebuilt {
            Some(rebuilt) => builds::load(self, plugin, rebuilt, report),
            None => {
                report.not_run_rule("D065", "there is no other build: check the plugin's folder, or give --rebuilt");
                None
            }
        };
        Loaded { apart, unoptimized, moved: self.moved(report), rebuilt }
    }

    /// Reports a compilation that is about to begin. Reports nothing if the compiled code is cached.
    pub(super) fn compiles(&self, engine: &Engine, bytes: &[u8], how: &str) {
        if !engine.is_compiled(bytes) {
            (self.progress)(&format!("compiling {} {how}, to compare", named(self.settings, bytes)));
        }
    }

    fn moved(&self, report: &mut Report) -> Option<Arc<Plugin>> {
        let Some(bytes) = moved::moved(self.bytes) else {
            report.not_run_rule("D070", "it has no stack and heap that could be moved");
            return None;
        };
        self.compiles(self.engine, &bytes, "with its stack and heap elsewhere");
        let load = || self.engine.load(&bytes, self.settings.clone());
        // The rewritten component may trap. Its log messages would mislead, because they do not concern the
        // checked plugin.
        let quiet = || tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), load);
        let loaded = tokio::task::block_in_place(quiet).ok();
        if loaded.is_none() {
            report.not_run_rule("D070", "its stack and heap cannot be moved: the changed component does not load");
        }
        loaded
    }

    fn varied(&self, variation: Variation, rule: &str, message: &str, report: &mut Report) -> Option<Arc<Plugin>> {
        let load = || -> Result<Arc<Plugin>, String> {
            let engine = self.engine.varied(variation).map_err(|error: EngineError| error.to_string())?;
            let how = match variation {
                Variation::Apart => "with half the stack",
                Variation::Unoptimized => "without optimization",
            };
            self.compiles(&engine, self.bytes, how);
            engine.load(self.bytes, self.settings.clone()).map_err(|error| error.to_string())
        };
        match tokio::task::block_in_place(load) {
            Ok(plugin) => Some(plugin),
            Err(error) => {
                report.add([Finding::new(rule, self.file, format!("{message}: {error}"))]);
                None
            }
        }
    }
}
