//! Arguments of `latch plugin new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use latchwork_core::model::manifest::PluginKind;
use latchwork_tooling::build::Lang;

/// Arguments of `latch plugin new`.
#[derive(Args, Debug)]
pub struct PluginNewArgs {
    /// Name of the plugin and of its folder: 1 to 64 characters from a-z 0-9 - _, starting with a letter
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Programming language of the plugin
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: LangArg,
    /// Deterministic step code, or a tool that touches the outside world
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: KindArg,
    /// Folder in which the plugin folder is created
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub into: PathBuf,
}

/// Languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LangArg {
    /// Rust
    Rust,
    /// JavaScript
    Js,
    /// Python
    Python,
    /// C
    C,
    /// Go
    Go,
}

impl From<LangArg> for Lang {
    fn from(lang: LangArg) -> Lang {
        match lang {
            LangArg::Rust => Lang::Rust,
            LangArg::Js => Lang::Js,
            LangArg::Python => Lang::Python,
            LangArg::C => Lang::C,
            LangArg::Go => Lang::Go,
        }
    }
}

/// Kinds of plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Deterministic step code
    Step,
    /// Tool that touches the outside world
    Tool,
}

impl From<KindArg> for PluginKind {
    fn from(kind: KindArg) -> PluginKind {
        match kind {
            KindArg::Step => PluginKind::Step,
            KindArg::Tool => PluginKind::Tool,
        }
    }
}
