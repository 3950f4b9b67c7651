//! Arguments of `latch job export`, `latch verify` and `latch key`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use latchwork_core::model::bounds;
use latchwork_core::model::ids::JobId;

use crate::args::parsers::job_id;

/// Arguments of `latch job export`.
#[derive(Args, Debug)]
pub struct JobExportArgs {
    /// Id of the job
    #[arg(value_name = "JOB", value_parser = job_id)]
    pub job: JobId,
    /// Output file, or - for stdout [default: JOB.evidence.jsonl]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
    /// Withhold the payloads and salts with these labels, separated by commas; answer/s6 includes all labels
    /// below it, such as answer/s6/1
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub withhold: Vec<String>,
    /// Withhold every payload
    #[arg(long, conflicts_with = "withhold")]
    pub withhold_all: bool,
    /// Sign the file with this private key; `latch key new` creates one
    #[arg(long, value_name = "KEYFILE")]
    pub sign: Option<PathBuf>,
}

/// Arguments of `latch verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The evidence file of `latch job export`, or - for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also execute every step again with the pinned components, found in this folder by digest [with
    /// --config: in the state directory]
    #[arg(long, value_name = "DIR")]
    pub plugins: Option<PathBuf>,
    /// Execute no further step again after this many units of fuel
    #[arg(long, value_name = "UNITS", default_value_t = bounds::FOREIGN_FUEL)]
    pub max_fuel: u64,
    /// File of trusted public keys: one `ed25519:…` key and a name per line
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// File of people who sign decisions: one `ed25519:…` key and the name of its person per line
    #[arg(long, value_name = "FILE")]
    pub people: Option<PathBuf>,
}

/// Arguments of `latch key`.
#[derive(Args, Debug)]
pub struct KeyArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: KeyCommand,
}

/// Commands of `latch key`.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a private key that signs evidence, and print its public key
    New(KeyFileArgs),
    /// Print the public key of a private key as a line for a trust file
    Show(KeyFileArgs),
}

/// Arguments of `latch key new` and `latch key show`.
#[derive(Args, Debug)]
pub struct KeyFileArgs {
    /// File of the private key: PEM (PKCS#8), Ed25519
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}
