//! `latch plugin new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use latchwork_core::manifest::PluginKind;

use crate::build::Lang;

/// `latch plugin new`
#[derive(Args, Debug)]
pub struct PluginNewArgs {
    /// The plugin's name, and its folder's: a-z 0-9 - _
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it is written in
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: LangArg,
    /// Deterministic code, or code that touches the world
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: KindArg,
    /// Where its folder is made
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
    /// Deterministic code
    Step,
    /// Code that touches the world
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
