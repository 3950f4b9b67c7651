//! The hosts that a step is run under, beside the usual one.

use std::sync::Arc;

use super::again::Process;
use super::builds::{self, Rebuilt};
use super::moved;
use crate::check::finding::Finding;
use crate::check::named;
use crate::check::report::Report;
use crate::engine::{Engine, EngineError, Plugin, PluginSettings, Variation};

/// What other hosts are made of.
pub(crate) struct Hosts<'a> {
    /// The usual engine.
    pub(crate) engine: &'a Engine,
    /// The component.
    pub(crate) bytes: &'a [u8],
    /// Its file, for findings.
    pub(crate) file: &'a str,
    /// What it is loaded with.
    pub(crate) settings: &'a PluginSettings,
    /// How another process is started.
    pub(crate) process: Option<&'a Process>,
    /// Another build of the same sources.
    pub(crate) rebuilt: Option<&'a Rebuilt>,
    /// Told of what takes its time.
    pub(crate) progress: &'a (dyn Fn(&str) + Sync),
}

/// The component in other hosts; none where it cannot be loaded there, which is a finding.
pub(super) struct Loaded {
    pub(super) apart: Option<Arc<Plugin>>,
    pub(super) unoptimized: Option<Arc<Plugin>>,
    /// With its memory laid out otherwise.
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

    /// Tells of a compilation that is about to begin; of none where compiled code is kept.
    pub(super) fn compiles(&self, engine: &Engine, bytes: &[u8], how: &str) {
        if !engine.is_compiled(bytes) {
            (self.progress)(&format!("compiling {} {how}, to compare", named(self.settings, bytes)));
        }
    }

    fn moved(&self, report: &mut Report) -> Option<Arc<Plugin>> {
        let Some(bytes) = moved::moved(self.bytes) else {
            report.not_run_rule("D070", "it has no stack and heap of its own that could be elsewhere");
            return None;
        };
        self.compiles(self.engine, &bytes, "with its stack and heap elsewhere");
        let load = || self.engine.load(&bytes, self.settings.clone());
        // A component that no compiler made may trap, and what it logs then says nothing about the plugin that is checked.
        let quiet = || tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), load);
        let loaded = tokio::task::block_in_place(quiet).ok();
        if loaded.is_none() {
            report.not_run_rule("D070", "its stack and heap cannot be moved: moved, it does not load");
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
