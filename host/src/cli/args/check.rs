//! `latch plugin check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use latchwork_core::manifest::WasiMode;

use crate::check::render::Format;

/// `latch plugin check`
#[derive(Args, Debug)]
pub struct PluginCheckArgs {
    /// A component, or a folder with a latch-plugin.toml, which is built first; may be repeated
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// Inputs and what the tools answer, as JSON lines [default: cases.jsonl in DIR]; of one plugin
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// A job exported from a database, whose steps are run again on this build; may be repeated
    #[arg(long, value_name = "FILE")]
    pub history: Vec<PathBuf>,
    /// Another build of the same sources, which has to do the same [default: DIR is built a second time]; of one plugin
    #[arg(long, value_name = "FILE")]
    pub rebuilt: Option<PathBuf>,
    /// Do not build DIR a second time
    #[arg(long, conflicts_with = "rebuilt")]
    pub once: bool,
    /// How the report is written to stdout [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<FormatArg>,
    /// Write the report in this form to a file as well, - is stdout: `sarif=check.sarif`; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = output)]
    pub output: Vec<(FormatArg, PathBuf)>,
    /// What of WASI the step may import [default: as latch.toml says of it, else none]
    #[arg(long, value_enum, value_name = "MODE")]
    pub wasi: Option<WasiArg>,
    /// Run what stdin says and print what came of it: the other process of a check
    #[arg(long, hide = true)]
    pub other_process: bool,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For people
    Text,
    /// Everything, for programs
    Json,
    /// JUnit XML, for CI systems that show tests
    Junit,
    /// SARIF 2.1.0, for code hosts
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
    let format = FormatArg::from_str(format, false).map_err(|_| format!("{format:?} is none of {}", names()))?;
    Ok((format, PathBuf::from(file)))
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Format {
        match format {
            FormatArg::Text => Format::Text,
            FormatArg::Json => Format::Json,
            FormatArg::Junit => Format::Junit,
            FormatArg::Sarif => Format::Sarif,
        }
    }
}

/// Modes of WASI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WasiArg {
    /// None
    None,
    /// One that answers from the step's own history
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
