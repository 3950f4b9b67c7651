//! Commands of authors: `latch schema`, `latch init`, `latch call`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use latchwork_core::manifest::Effect;

use super::{LangArg, ModeArg, actor, tenant};
use crate::schemas::Document;

/// `latch schema`
#[derive(Args, Debug)]
pub struct SchemaArgs {
    /// The document; without it, all are listed
    #[arg(value_enum, ignore_case = true, value_name = "NAME")]
    pub name: Option<DocumentArg>,
}

/// Documents that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentArg {
    /// A plan: plan.json
    #[value(alias = "plan.json")]
    Plan,
    /// The configuration: latch.toml
    #[value(alias = "latch.toml")]
    Config,
    /// What a plugin's folder makes: latch-plugin.toml
    #[value(alias = "latch-plugin.toml")]
    Recipe,
    /// A case of a plugin: one line of cases.jsonl
    #[value(alias = "cases.jsonl")]
    Cases,
    /// A request: an intent and its plan
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

/// `latch init`
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Language of its plugin [default: one whose tools are on this machine]
    #[arg(long, value_enum, value_name = "LANG")]
    pub lang: Option<LangArg>,
}

/// `latch call`
#[derive(Args, Debug)]
pub struct CallArgs {
    /// The operator, such as Mail.Send
    #[arg(value_name = "OPERATOR")]
    pub operator: String,
    /// Its arguments: JSON, @FILE, or - for stdin
    #[arg(value_name = "ARGS", default_value = "{}", allow_hyphen_values = true)]
    pub args: String,
    /// What the call may do to the world beside reading; may be repeated
    #[arg(long, value_enum, ignore_case = true, value_name = "EFFECT")]
    pub effect: Vec<EffectArg>,
    /// What the job may do
    #[arg(long, value_enum, ignore_case = true, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Approve the call beforehand
    #[arg(long)]
    pub approve: bool,
    /// Call again, although the same call is known
    #[arg(long)]
    pub new: bool,
    /// Build the configured plugins first
    #[arg(long)]
    pub build: bool,
    /// Actor that asks [default: the user of the operating system]
    #[arg(long, value_name = "NAME", value_parser = actor)]
    pub actor: Option<String>,
    /// Tenant whose policy applies [default: default]
    #[arg(long, value_name = "NAME", value_parser = tenant)]
    pub tenant: Option<String>,
}

/// Effects of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum EffectArg {
    /// It reads
    ReadOnly,
    /// It produces an outcome
    ProduceOutcome,
    /// It changes something inside
    InternalWrite,
    /// It changes something outside
    ExternalWrite,
    /// It sends something
    ExternalSend,
}

impl From<EffectArg> for Effect {
    fn from(effect: EffectArg) -> Effect {
        match effect {
            EffectArg::ReadOnly => Effect::ReadOnly,
            EffectArg::ProduceOutcome => Effect::ProduceOutcome,
            EffectArg::InternalWrite => Effect::InternalWrite,
            EffectArg::ExternalWrite => Effect::ExternalWrite,
            EffectArg::ExternalSend => Effect::ExternalSend,
        }
    }
}
