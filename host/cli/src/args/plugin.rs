//! Arguments of `latch plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::check::PluginCheckArgs;
use crate::args::new::PluginNewArgs;

/// Arguments of `latch plugin`.
#[derive(Args, Debug)]
pub struct PluginArgs {
    /// The command to run.
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// Commands of `latch plugin`.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Create a plugin project with tests
    New(PluginNewArgs),
    /// Build components from source and install the tools that the build needs
    Build(PluginBuildArgs),
    /// Show operators, schemas, imports, effects, digest, size and reachable resources of a component
    Inspect(PluginInspectArgs),
    /// Check a plugin for violations of determinism and of its contract; suitable as a CI gate
    Check(PluginCheckArgs),
    /// List the configured plugins
    List,
    /// Remove stored components that are neither configured nor needed by an unfinished job
    Prune,
    /// Print the path of the compiler for Rust plugins; install the compiler if it is missing
    Toolchain,
}

/// Arguments of `latch plugin build`.
#[derive(Args, Debug)]
pub struct PluginBuildArgs {
    /// Folders with a latch-plugin.toml [default: every plugin folder in the configuration]
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Change lock files that exist so that they match their manifests
    #[arg(long)]
    pub update: bool,
}

/// Arguments of `latch plugin inspect`.
#[derive(Args, Debug)]
pub struct PluginInspectArgs {
    /// A component file, or the folder of a built plugin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Do not run the component, not even to describe its operators
    #[arg(long = "static")]
    pub only_static: bool,
}
