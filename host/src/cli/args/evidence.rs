//! Commands of evidence: `latch job export`, `latch verify`, `latch key`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use latchwork_core::ids::JobId;

/// `latch job export`
#[derive(Args, Debug)]
pub struct JobExportArgs {
    /// The job
    #[arg(value_name = "JOB", value_parser = super::job_id)]
    pub job: JobId,
    /// Where it is written, - is stdout [default: JOB.evidence.jsonl]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Leave these payloads out, with their salts: answer/s6/1, or all below answer/s6 or input
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub withhold: Vec<String>,
    /// Leave every payload out
    #[arg(long, conflicts_with = "withhold")]
    pub withhold_all: bool,
    /// Sign it with this private key; `latch key new` makes one
    #[arg(long, value_name = "KEYFILE")]
    pub sign: Option<PathBuf>,
}

/// `latch verify`
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The evidence: a file of `latch job export`, - is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Execute every step again with the pinned components, found here by their digests
    /// [with --config: those kept in its state directory]
    #[arg(long, value_name = "DIR")]
    pub plugins: Option<PathBuf>,
    /// Public keys that may sign: a line `ed25519:…` and a name for each
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
}

/// `latch key`
#[derive(Args, Debug)]
pub struct KeyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: KeyCommand,
}

/// Verbs of keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a private key that signs evidence, and print its public key
    New(KeyFileArgs),
    /// Print the public key of a private key, as a line for a trust file
    Show(KeyFileArgs),
}

/// `latch key new` and `latch key show`
#[derive(Args, Debug)]
pub struct KeyFileArgs {
    /// The private key: PEM (PKCS#8), Ed25519
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}
