//! The file of known findings.

use std::path::PathBuf;

use latchwork_core::model::error_docs;
use latchwork_tooling::check::Baseline;
use latchwork_tooling::check::render::Reports;

use crate::args::PluginCheckArgs;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::files::save::FileReaders;
use crate::files::{save, source};

/// The baseline of a check, and the file that it comes from.
pub(super) struct LoadedBaseline {
    path: PathBuf,
    is_written: bool,
    known: Baseline,
}

impl LoadedBaseline {
    /// Reads the file of `--baseline`. Returns `None` without this flag.
    ///
    /// # Errors
    /// The file cannot be read or is not a baseline. With `--write-baseline`, the file may be missing, and its content
    /// may be damaged, because the command writes the file.
    pub(super) fn read(args: &PluginCheckArgs, ctx: &CommandContext<'_>) -> Result<Option<Self>, CliError> {
        let Some(named) = &args.baseline else { return Ok(None) };
        let path = ctx.cwd.join(named);
        let known = match (args.write_baseline, path.exists()) {
            (true, false) => Baseline::default(),
            _ => {
                let bytes = source::file(&path)?;
                Baseline::parse(&String::from_utf8_lossy(&bytes)).or_else(|(line, why)| match args.write_baseline {
                    true => Ok(Baseline::default()),
                    false => {
                        let message = format!("{}:{line}: {why}", named.display());
                        Err(CliError::input(error_docs::CHECK_BASELINE, message))
                    }
                })?
            }
        };
        Ok(Some(Self { path, is_written: args.write_baseline, known }))
    }

    /// Marks the known findings of the reports. With `--write-baseline`, first writes the present findings to the file,
    /// so that all findings are known.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn apply(&self, reports: &mut Reports) -> Result<(), CliError> {
        let written = self.is_written.then(|| Baseline::of(reports.reports(), &self.known));
        if let Some(baseline) = &written {
            save::replace(&self.path, baseline.text().as_bytes(), FileReaders::Everyone)?;
        }
        let known = written.as_ref().unwrap_or(&self.known);
        reports.reports_mut().for_each(|report| report.accept_baseline(known));
        Ok(())
    }
}
