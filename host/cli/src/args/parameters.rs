//! Arguments that set the parameters of a plan.

use std::path::PathBuf;

use clap::Args;

use crate::args::parsers::named_value;

/// Values of a plan's parameters.
#[derive(Args, Debug, Default)]
pub struct ParameterArgs {
    /// Set one parameter; the value is JSON, otherwise text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    pub set: Vec<(String, String)>,
    /// Set parameters from a file with one JSON object, or - for stdin
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}
