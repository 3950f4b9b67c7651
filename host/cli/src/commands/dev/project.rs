//! The files of a project that are watched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use latchwork::config::SettingSource;

use crate::commands::dev::watch::WatchedFiles;
use crate::context::CommandContext;
use crate::text::Tone;

/// Interval between two checks of the sources.
const SOURCE_POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Maximum number of changed files that are named.
const NAMED_CHANGES_MAX: usize = 3;

/// A plan with its parameter values, configuration and plugin sources.
pub(super) struct Project<'d> {
    pub(super) ctx: &'d CommandContext<'d>,
    pub(super) plan: PathBuf,
    /// File of `--input`.
    pub(super) input: Option<PathBuf>,
}

impl Project<'_> {
    /// Returns the watched files: plan, parameter file, configuration, and each plugin's component or folder. If the
    /// configuration is invalid, returns the plan, the parameter file and the files that the problems name.
    pub(super) fn watched(&self) -> WatchedFiles {
        let mut watched = WatchedFiles::default();
        watched.file(&self.plan);
        self.input.iter().for_each(|file| watched.file(file));
        match self.ctx.config(self.plan.parent()) {
            Ok(config) => {
                if let Some(file) = config.file() {
                    watched.file(file);
                }
                for plugin in config.plugins() {
                    watched.source(&plugin.source);
                }
            }
            Err(errors) => {
                for problem in &errors.0 {
                    if let SettingSource::File { path, .. } | SettingSource::WholeFile(path) = &problem.origin {
                        watched.file(path);
                    }
                }
            }
        }
        watched
    }

    /// Returns once the files differ from `before` and two successive checks find the same files. Editors write a file
    /// in several steps, so one check could find a partial change.
    pub(super) async fn wait_for_source_change(&self, before: &WatchedFiles) {
        let mut last = before.clone();
        loop {
            tokio::time::sleep(SOURCE_POLL_INTERVAL).await;
            let now = self.watched();
            if now == last && now != *before {
                return self.print_changed_files(&now, before);
            }
            last = now;
        }
    }

    /// Prints the names of the changed files.
    pub(super) fn print_changed_files(&self, now: &WatchedFiles, before: &WatchedFiles) {
        for path in now.changes(before).iter().take(NAMED_CHANGES_MAX) {
            self.ctx.printer.note(Tone::Title.of(format!("changed: {}", self.display_path(path))));
        }
    }

    /// Returns the path, relative to the working directory if the path lies below this directory.
    pub(super) fn display_path(&self, path: &Path) -> String {
        let displayed = path.strip_prefix(&self.ctx.cwd).unwrap_or(path).display().to_string();
        if displayed.is_empty() { ".".to_owned() } else { displayed }
    }
}
