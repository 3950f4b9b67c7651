//! The component, loaded in alternative hosts.

use std::sync::Arc;

use latchwork_engine::{EngineVariation, Plugin};

use crate::check::dynamic::hosts::HostVariants;
use crate::check::dynamic::{builds, memory_layout};
use crate::check::finding::Finding;
use crate::check::report::CheckReport;

/// The component, loaded in alternative hosts. An optional field is `None` if its load fails or if there is nothing to
/// compare. A failed load also adds a finding, or marks the rule that needs the load as not checked.
pub(super) struct LoadedVariants {
    pub(super) apart: Option<Arc<Plugin>>,
    /// The component in other memory layouts.
    pub(super) moved: Vec<Arc<Plugin>>,
    pub(super) rebuilt: Option<builds::OtherBuild>,
    /// True if the component contains the runtime of a language, which reads the input as JSON before the step sees it.
    pub(super) has_runtime: bool,
}

/// Size from which a component contains the runtime of a language, in bytes.
const RUNTIME_BYTES: usize = 1 << 20;

/// Returns true if a component contains the runtime of a language.
pub(in crate::check) fn has_runtime(component: &[u8]) -> bool {
    component.len() >= RUNTIME_BYTES
}

impl HostVariants<'_> {
    pub(super) fn load(&self, plugin: &Plugin, report: &mut CheckReport) -> LoadedVariants {
        let apart = self.load_apart(report);
        let rebuilt = match self.rebuilt {
            Some(rebuilt) => builds::load(self, plugin, rebuilt, report),
            None => {
                report.mark_rule_not_checked(
                    "D065",
                    "there is no other build: check the plugin's folder, or give --rebuilt",
                );
                None
            }
        };
        let has_runtime = has_runtime(self.bytes);
        LoadedVariants { apart, moved: self.load_moved(report), rebuilt, has_runtime }
    }

    fn load_moved(&self, report: &mut CheckReport) -> Vec<Arc<Plugin>> {
        let mut loaded = Vec::new();
        for layout in memory_layout::layouts(self.bytes.len()) {
            let Some(bytes) = memory_layout::move_memory(self.bytes, *layout) else {
                report.mark_rule_not_checked("D070", "it has no stack and heap that could be moved");
                break;
            };
            if loaded.is_empty() {
                self.announce_compilation(self.engine, &bytes, "with its stack and heap elsewhere");
            }
            let load = || self.engine.load(&bytes, self.settings.clone());
            // Suppresses log messages of this load. The rewritten component may trap during the load, and this trap
            // does not concern the checked plugin.
            let quiet = || tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), load);
            loaded.extend(tokio::task::block_in_place(quiet).ok());
            if loaded.is_empty() {
                let reason = "its stack and heap cannot be moved: the changed component does not load";
                report.mark_rule_not_checked("D070", reason);
                break;
            }
        }
        loaded
    }

    /// Loads the component for an instance with its own memory and half the stack.
    fn load_apart(&self, report: &mut CheckReport) -> Option<Arc<Plugin>> {
        let load = || -> Result<Arc<Plugin>, String> {
            let engine = self.engine.with_variation(EngineVariation::Unpooled).map_err(|error| error.to_string())?;
            self.announce_compilation(&engine, self.bytes, "with half the stack");
            engine.load(self.bytes, self.settings.clone()).map_err(|error| error.to_string())
        };
        match tokio::task::block_in_place(load) {
            Ok(plugin) => Some(plugin),
            Err(error) => {
                let message = format!("with half the stack it cannot be loaded: {error}");
                report.add([Finding::new("D062", self.file, message)]);
                None
            }
        }
    }
}
