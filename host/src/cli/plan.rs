//! `latch plan`: checks plans and prints their schema.

use std::path::Path;

use serde_json::{Map, Value, json};

use latchwork_core::model::error_docs;
use latchwork_core::model::manifest::{Determinism, PluginKind};
use latchwork_core::plan;
use latchwork_core::plan::{Catalog, OperatorInfo, Plan, SchemaMismatch, Violation};

use super::args::{ParameterArgs, PlanArgs, PlanCheckArgs, PlanCommand};
use super::context::Context;
use super::error::{CliError, CliProblem, Exit};
use super::output::{Text, Tone};
use super::source::Source;
use super::{admission, catalog, parameters};

pub(super) use super::source::file as read;

/// Keys of a step in the order in which they are explained. Other keys follow.
const STEP_KEYS: &[&str] = &[
    "kind",
    "payload",
    "depends_on",
    "effects",
    "policy_tags",
    "gate",
    "cache_policy",
    "idempotency_template",
    "hashes",
];

pub(super) async fn run(args: PlanArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    match args.command {
        PlanCommand::Check(args) => check(&args, ctx),
        PlanCommand::Schema => {
            ctx.printer.raw(plan::SCHEMA);
            Ok(Exit::Done)
        }
    }
}

fn check(args: &PlanCheckArgs, ctx: &Context<'_>) -> anyhow::Result<Exit> {
    let source = Source::read(&args.plan, ctx)?;
    let (request, registry) = match args.no_plugins {
        true => {
            let checked = plan::check_request(&source.text, &AcceptAllCatalog);
            (checked.map_err(|violations| plan_refused(&source.name, &violations))?, None)
        }
        false => {
            let config = ctx.config(source.folder.as_deref())?;
            let survey = admission::precheck(&config, &source.name, &source.text)?;
            let registry = catalog::load_from_survey(&config, survey)?;
            let checked = plan::check_request(&source.text, &registry);
            let request = admission::require_served(&registry, &source.name, checked)?;
            admission::warn_refused_plugins(ctx, &registry);
            (request, Some(registry))
        }
    };
    if request.intent.is_some() {
        let catalog: &dyn Catalog = registry.as_ref().map_or(&AcceptAllCatalog, |registry| registry);
        parameters::values(ctx, &request, catalog, &source, &ParameterArgs::default())?;
    }
    let plan = request.plan;
    let document = json!({ "plan_id": plan.plan_id, "plan_hash": plan.hash(), "plan": plan, "filled": request.filled });
    ctx.answer(&document, || {
        let accepted = Text::from(accepted_line(&plan, args.no_plugins));
        match args.explain {
            true => accepted.under(normalized_lines(&plan, &request.filled)),
            false => accepted,
        }
    });
    Ok(Exit::Done)
}

/// Formats the normalized plan, one line for each key. `+` marks keys that the plan leaves to their defaults.
fn normalized_lines(plan: &Plan, filled: &[String]) -> Text {
    const WIDTH: usize = 20;
    let normal = serde_json::to_value(plan).expect("a plan is plain data");
    let line = |at: &str, key: &str, value: &Value| -> Text {
        let is_filled = filled.iter().any(|pointer| *pointer == format!("{at}/{key}"));
        match is_filled {
            true => Tone::Quiet.of(format!("  + {key:WIDTH$}  {value}")),
            false => format!("    {key:WIDTH$}  {value}").into(),
        }
    };
    let of = |at: &str, fields: &Map<String, Value>, order: &[&str]| {
        let named = order.iter().filter_map(|key| Some((*key, fields.get(*key)?)));
        let others = fields.iter().map(|(key, value)| (key.as_str(), value));
        let others = others.filter(|(key, _)| !order.contains(key) && !["steps", "step_id", "name"].contains(key));
        named.chain(others).map(|(key, value)| line(at, key, value)).collect::<Vec<Text>>()
    };
    let empty = Map::new();
    let mut lines = vec![Text::default(), "the normal form; + marks what the plan leaves out:".into()];
    lines.extend(of("", normal.as_object().unwrap_or(&empty), &["plan_id", "schema_version", "intent_id"]));
    for (index, step) in normal["steps"].as_array().into_iter().flatten().enumerate() {
        let title = format!("step {}: {}", plan.steps[index].step_id, plan.steps[index].name);
        lines.extend([Text::default(), Tone::Title.of(title)]);
        lines.extend(of(&format!("/steps/{index}"), step.as_object().unwrap_or(&empty), STEP_KEYS));
    }
    Text::lines(lines)
}

/// Returns the error that lists every violation, in the order in which they occur in the plan's text.
pub(super) fn plan_refused(path: &Path, violations: &[Violation]) -> CliError {
    let count = match violations.len() {
        1 => "a problem".to_owned(),
        n => format!("{n} problems"),
    };
    CliError::input(error_docs::PLAN_REFUSED, format!("{} is refused: it has {count}", path.display()))
        .with_problems(violations.iter().map(CliProblem::from))
}

fn accepted_line(plan: &Plan, no_plugins: bool) -> String {
    let unchecked = match no_plugins {
        true => "\noperators were not checked",
        false => "",
    };
    let steps = plan.steps.iter().map(|step| step.step_id.to_string()).collect::<Vec<_>>().join(", ");
    format!("{} is valid: {} steps ({steps}), hash {}{unchecked}", plan.plan_id, plan.steps.len(), plan.hash())
}

/// Catalog that accepts every operator with any effects, for checks without plugins.
pub(super) struct AcceptAllCatalog;

impl Catalog for AcceptAllCatalog {
    fn operator(&self, _name: &str) -> Option<OperatorInfo> {
        // A plan may use a stable operator at every place, even in a model step. The operator therefore counts as
        // `stable`, and the check reports no problem of determinism.
        Some(OperatorInfo {
            effects: vec![],
            determinism: Determinism::Stable,
            kind: PluginKind::Tool,
            compensate: true,
        })
    }

    fn knows_operators(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }

    fn schema_mismatches(&self, schema: &Value, value: &Value) -> Result<Vec<SchemaMismatch>, String> {
        crate::engine::schema::misfits(schema, value)
    }
}
