//! Arguments of `latch schema`, `latch init` and `latch call`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use latchwork_core::model::manifest::EffectKind;
use latchwork_tooling::schemas::Document;

use crate::args::mode::ModeArg;
use crate::args::new::LangArg;
use crate::args::parsers::{actor, tenant};

/// Arguments of `latch schema`.
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The document [default: list all documents]
    #[arg(value_enum, ignore_case = true, value_name = "NAME")]
    pub name: Option<DocumentArg>,
}

/// Documents that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentArg {
    /// A plan (plan.json)
    #[value(alias = "plan.json")]
    Plan,
    /// The configuration (latch.toml)
    #[value(alias = "latch.toml")]
    Config,
    /// The build recipe of a plugin folder (latch-plugin.toml)
    #[value(alias = "latch-plugin.toml")]
    Recipe,
    /// One test case of a plugin, a line of cases.jsonl
    #[value(alias = "cases.jsonl")]
    Cases,
    /// A request with intent and plan
    Request,
}

impl From<DocumentArg> for Document {
    fn from(document: DocumentArg) -> Document {
        match document {
            DocumentArg::Plan => Document::Plan,
            DocumentArg::Config => Document::Config,
            DocumentArg::Recipe => Document::Recipe,
            DocumentArg::Cases => Document::Cases,
            DocumentArg::Request => Document::Request,
        }
    }
}

/// Arguments of `latch init`.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// Folder of the new project
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Language of the example plugin [default: one whose tools are on this machine]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<LangArg>,
}

/// Arguments of `latch call`.
#[derive(Args, Debug)]
pub struct CallArgs {
    /// The operator, such as Mail.Send
    #[arg(value_name = "OPERATOR")]
    pub operator: String,
    /// Arguments of the operator: JSON, @FILE, or - for stdin
    #[arg(value_name = "ARGS", default_value = "{}", allow_hyphen_values = true)]
    pub args: String,
    /// Allow this effect in addition to reading; may be repeated
    #[arg(long, value_enum, ignore_case = true, value_name = "EFFECT")]
    pub effect: Vec<EffectArg>,
    /// Mode that limits what the job may change [default: HUMAN_GATED]
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Approve the gate of the call in advance
    #[arg(long)]
    pub approve: bool,
    /// Start a new job even if the same call was made before
    #[arg(long)]
    pub new: bool,
    /// Build the configured plugins before the call
    #[arg(long)]
    pub build: bool,
    /// Actor that makes the request [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
    /// Tenant whose policy applies [default: default]
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    pub tenant: Option<String>,
}

/// Effects that a call may be allowed to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum EffectArg {
    /// Reads data
    ReadOnly,
    /// Produces an outcome
    ProduceOutcome,
    /// Changes internal data
    InternalWrite,
    /// Changes external data
    ExternalWrite,
    /// Sends something outside
    ExternalSend,
}

impl From<EffectArg> for EffectKind {
    fn from(effect: EffectArg) -> EffectKind {
        match effect {
            EffectArg::ReadOnly => EffectKind::ReadOnly,
            EffectArg::ProduceOutcome => EffectKind::ProduceOutcome,
            EffectArg::InternalWrite => EffectKind::InternalWrite,
            EffectArg::ExternalWrite => EffectKind::ExternalWrite,
            EffectArg::ExternalSend => EffectKind::ExternalSend,
        }
    }
}
