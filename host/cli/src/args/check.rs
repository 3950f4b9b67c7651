//! Arguments of `latch plugin check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use latchwork_core::model::manifest::WasiMode;
use latchwork_tooling::check::render::ReportFormat;

/// Arguments of `latch plugin check`.
#[derive(Args, Debug)]
pub struct PluginCheckArgs {
    /// A component, or a folder with a latch-plugin.toml that is built first; may be repeated
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// File of test inputs and stubbed tool answers, as JSON lines [default: cases.jsonl in DIR]; one plugin
    /// only
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// An exported job whose steps are executed again on this build; may be repeated
    #[arg(long, value_name = "FILE")]
    pub history: Vec<PathBuf>,
    /// A second build of the same sources that must behave the same [default: DIR is built twice]; one plugin
    /// only
    #[arg(long, value_name = "FILE")]
    pub rebuilt: Option<PathBuf>,
    /// Skip the second build of DIR
    #[arg(long, conflicts_with = "rebuilt")]
    pub once: bool,
    /// Format of the report on stdout [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<FormatArg>,
    /// Also write a report to a file, or to stdout for -, such as `sarif=check.sarif`; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = output)]
    pub output: Vec<(FormatArg, PathBuf)>,
    /// File of known findings, which are reported but do not fail the check
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the present findings of the checked plugins to the baseline
    #[arg(long, requires = "baseline")]
    pub write_baseline: bool,
    /// WASI imports that the step may have [default: the value in latch.toml, else none]
    #[arg(long, value_enum, value_name = "MODE")]
    pub wasi: Option<WasiArg>,
    /// Run one case from stdin and print the result; used internally, in the second process of a check
    #[arg(long, hide = true)]
    pub other_process: bool,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Text for people
    Text,
    /// Complete JSON for programs
    Json,
    /// JUnit XML for CI systems that show tests
    Junit,
    /// SARIF 2.1.0 for code hosts
    Sarif,
}

fn output(text: &str) -> Result<(FormatArg, PathBuf), String> {
    let names = || {
        let names = FormatArg::value_variants().iter().filter_map(FormatArg::to_possible_value);
        names.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let (format, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write FORMAT=FILE, such as sarif=check.sarif")?;
    let format =
        FormatArg::from_str(format, false).map_err(|_| format!("unknown format {format:?}: use one of {}", names()))?;
    Ok((format, PathBuf::from(file)))
}

impl From<FormatArg> for ReportFormat {
    fn from(format: FormatArg) -> ReportFormat {
        match format {
            FormatArg::Text => ReportFormat::Text,
            FormatArg::Json => ReportFormat::Json,
            FormatArg::Junit => ReportFormat::Junit,
            FormatArg::Sarif => ReportFormat::Sarif,
        }
    }
}

/// WASI modes of a step plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WasiArg {
    /// No WASI
    None,
    /// Deterministic WASI that answers from the history of the step
    Virtual,
}

impl From<WasiArg> for WasiMode {
    fn from(mode: WasiArg) -> WasiMode {
        match mode {
            WasiArg::None => WasiMode::None,
            WasiArg::Virtual => WasiMode::Virtual,
        }
    }
}
