//! Destinations of the reports.

use std::path::{Path, PathBuf};

use latchwork_core::model::error_docs;
use latchwork_tooling::check::render;
use latchwork_tooling::check::render::{ReportFormat, Reports};

use crate::args::PluginCheckArgs;
use crate::context::CommandContext;
use crate::error::CliError;
use crate::files::save;
use crate::files::save::FileReaders;

/// Requested report formats and their destinations.
pub(super) struct Outputs {
    /// Format of the report on stdout. `None` means the JSON document of the command.
    stdout: Option<ReportFormat>,
    files: Vec<(ReportFormat, PathBuf)>,
}

impl Outputs {
    /// Reads the destinations from the command line.
    ///
    /// # Errors
    /// Returns an error if two reports have the same destination, or if the folder of a file does not exist. A check
    /// may take long, so this function runs before the check.
    pub(super) fn of(args: &PluginCheckArgs, ctx: &CommandContext<'_>) -> Result<Self, CliError> {
        let is_stdout = |file: &Path| file.as_os_str() == "-";
        let mut stdout: Vec<ReportFormat> = args.format.map(ReportFormat::from).into_iter().collect();
        let mut files: Vec<(ReportFormat, PathBuf)> = Vec::new();
        for (format, file) in &args.output {
            if is_stdout(file) {
                stdout.push((*format).into());
                continue;
            }
            if files.iter().any(|(_, other)| other == file) {
                let message = format!("--output writes two reports to {}: give each a file of its own", file.display());
                return Err(CliError::input(error_docs::USAGE, message));
            }
            let folder = save::folder(&ctx.cwd.join(file));
            if !folder.is_dir() {
                let message = format!("{} cannot be written: there is no folder {}", file.display(), folder.display());
                return Err(CliError::input(error_docs::OUTPUT_UNWRITABLE, message));
            }
            files.push(((*format).into(), file.clone()));
        }
        match stdout.as_slice() {
            [] => Ok(Self { stdout: (!ctx.json).then_some(ReportFormat::Text), files }),
            // `--json` requests the JSON document of the command.
            [ReportFormat::Text | ReportFormat::Json] if ctx.json => Ok(Self { stdout: None, files }),
            [format] => Ok(Self { stdout: Some(*format), files }),
            _ => {
                let message = "two reports would be written to stdout: give all but one a file, --output FORMAT=FILE";
                Err(CliError::input(error_docs::USAGE, message))
            }
        }
    }

    /// Writes every report. Each file is written completely or not at all.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written. The remaining reports are written anyway.
    pub(super) fn write(&self, ctx: &CommandContext<'_>, reports: &Reports) -> Result<(), CliError> {
        let written = self.write_files(ctx, reports);
        match self.stdout {
            None => ctx.printer.document(&render::json(reports)),
            Some(ReportFormat::Text) => ctx.printer.print_text(render::render(reports, ReportFormat::Text).trim_end()),
            Some(format) => ctx.printer.raw(&render::render(reports, format)),
        }
        written
    }

    /// Writes the reports that go to files.
    ///
    /// # Errors
    /// Returns the error of the first file that cannot be written. The remaining files are written anyway.
    pub(super) fn write_files(&self, ctx: &CommandContext<'_>, reports: &Reports) -> Result<(), CliError> {
        let write = |(format, file): &(ReportFormat, PathBuf)| {
            save::replace(&ctx.cwd.join(file), render::render(reports, *format).as_bytes(), FileReaders::Everyone)
        };
        let written: Vec<_> = self.files.iter().map(write).collect();
        written.into_iter().collect()
    }
}
