//! What is watched of a project.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::watch::Watched;
use crate::cli::context::Context;
use crate::cli::text::Tone;
use crate::config::Origin;

/// Between two looks at the sources.
const LOOK: Duration = Duration::from_millis(300);
/// The most changed files that are named.
const NAMED: usize = 3;

/// A plan with the values of its parameters, its configuration and the sources of its plugins.
pub(super) struct Project<'d> {
    pub(super) ctx: &'d Context<'d>,
    pub(super) plan: PathBuf,
    /// The file of `--input`.
    pub(super) input: Option<PathBuf>,
}

impl Project<'_> {
    /// The plan, the values of its parameters, the configuration, and each plugin's component or folder. A configuration that cannot be read is
    /// watched until it can.
    pub(super) fn watched(&self) -> Watched {
        let mut watched = Watched::default();
        watched.file(&self.plan);
        self.input.iter().for_each(|file| watched.file(file));
        match self.ctx.config(self.plan.parent()) {
            Ok(config) => {
                if let Some(file) = &config.file {
                    watched.file(file);
                }
                for plugin in &config.plugins {
                    watched.source(&plugin.source);
                }
            }
            Err(errors) => {
                for problem in &errors.0 {
                    if let Origin::File { path, .. } | Origin::WholeFile(path) = &problem.origin {
                        watched.file(path);
                    }
                }
            }
        }
        watched
    }

    /// Returns when something has changed and nothing changes any more: editors write in several steps.
    pub(super) async fn change(&self, before: &Watched) {
        let mut last = before.clone();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.watched();
            if now == last && now != *before {
                return self.say_changes(&now, before);
            }
            last = now;
        }
    }

    /// Names what has changed.
    pub(super) fn say_changes(&self, now: &Watched, before: &Watched) {
        for path in now.changes(before).iter().take(NAMED) {
            self.ctx.printer.note(Tone::Title.of(format!("changed: {}", self.shown(path))));
        }
    }

    /// A path from the working directory, where it lies below.
    pub(super) fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.ctx.cwd).unwrap_or(path).display().to_string();
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}
