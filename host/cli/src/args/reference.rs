//! Arguments of `latch explain`, `latch completions` and `latch man`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `latch explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The code, such as L0003 or INDETERMINATE_EFFECT [default: list all codes]
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// Arguments of `latch completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `latch man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Folder for the manual pages
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}
