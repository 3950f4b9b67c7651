//! `latch call`: calls one operator as a job with one step, with grants, gate, ledger and output.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use latchwork::registry::Registry;
use latchwork_core::encoding::canon;
use latchwork_core::encoding::suggest::did_you_mean;
use latchwork_core::model::error_docs;
use latchwork_core::model::ids::StepId;
use latchwork_core::model::manifest::EffectKind;
use latchwork_core::plan::{Catalog as _, uncovered};

use crate::args::{CallArgs, ParameterArgs, RunArgs};
use crate::context::CommandContext;
use crate::error::{CliError, Exit, plugins_not_loaded};
use crate::execution::submit::on_host;
use crate::files::source;
use crate::files::source::InputSource;
use crate::open;
use crate::plugins::build::build_configured;
use crate::plugins::catalog;

/// Id of the only step of the job.
const STEP: &str = "call";

pub(crate) async fn run(args: CallArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let payload = arguments(&args.args, ctx)?;
    let config = ctx.config(None)?;
    if args.build {
        build_configured(ctx, &config).await?;
    }
    let survey = open::survey(&config);
    if open::is_new(&config)? {
        // If there is no database yet, checks the effects before the host starts, because a refused call must not
        // create a database.
        declared_effects(&args, &catalog::load_from_survey(ctx.session(), &config, survey.clone())?)?;
    }
    let host = open::surveyed_host(ctx.session(), config, survey).await?;
    let effects = declared_effects(&args, host.registry())?;
    let plan = json!({ "plan_id": STEP, "steps": [
        { "step_id": STEP, "name": args.operator, "payload": payload, "effects": effects },
    ] });
    let name = PathBuf::from(format!("the call of {}", args.operator));
    let source = InputSource { name: name.clone(), folder: None, text: plan.to_string().into_bytes() };
    let run = RunArgs {
        plan: name,
        parameters: ParameterArgs::default(),
        build: false,
        mode: args.mode,
        approve: if args.approve { vec![StepId::new(STEP)] } else { vec![] },
        new: args.new,
        detach: false,
        priority: None,
        actor: args.actor,
        tenant: args.tenant,
        scratch: None,
    };
    on_host(&host, &source, &run, ctx).await
}

/// Parses the arguments: JSON text, `@FILE`, or `-` for stdin.
fn arguments(text: &str, ctx: &CommandContext<'_>) -> Result<Value, CliError> {
    let (bytes, place) = match (text, text.strip_prefix('@')) {
        ("-", _) => (InputSource::read(Path::new("-"), ctx)?.text, "stdin"),
        (_, Some(file)) => (source::file(Path::new(file))?, file),
        (text, None) => (text.as_bytes().to_vec(), "ARGS"),
    };
    canon::parse_strict(&bytes).map_err(|error| {
        let (line, column) = error.line_column(&bytes);
        let message = format!(
            "the arguments are not JSON: {place}:{line}:{column}: {}; write '{{\"key\": \"value\"}}', @FILE, or - for stdin",
            error.refusal
        );
        CliError::input(error_docs::CALL_REFUSED, message)
    })
}

/// Returns `read_only` and the effects that the caller declares with `--effect`. Refuses the call if the operator may
/// cause an effect that the caller does not declare.
fn declared_effects(args: &CallArgs, registry: &Registry) -> Result<Vec<EffectKind>, CliError> {
    let Some(info) = registry.operator(&args.operator) else {
        if !registry.refused().is_empty() {
            return Err(plugins_not_loaded(registry.refused()));
        }
        let names = registry.names();
        let meant = did_you_mean(&args.operator, names.iter().map(String::as_str));
        let advice = match names.is_empty() {
            true => "no plugin is configured: add one to latch.toml, or create a project with `latch init`",
            false => "`latch plugin list` shows the operators",
        };
        let message = format!("there is no operator `{}`{meant}; {advice}", args.operator);
        return Err(CliError::input(error_docs::CALL_REFUSED, message));
    };
    let mut effects: Vec<EffectKind> = args.effect.iter().copied().map(EffectKind::from).collect();
    effects.push(EffectKind::ReadOnly);
    effects.sort_unstable();
    effects.dedup();
    let missing = uncovered(&effects, &info.effects);
    if missing.is_empty() {
        return Ok(effects);
    }
    let words: Vec<_> = missing.iter().map(|effect| effect.as_str()).collect();
    let flags: Vec<_> = words.iter().map(|word| format!("--effect {word}")).collect();
    let message = format!("`{}` may cause {}; to allow that, add:", args.operator, words.join(" and "));
    Err(CliError::input(error_docs::CALL_REFUSED, message).with_next_command(flags.join(" ")))
}
