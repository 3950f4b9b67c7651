//! `latch plan`: checks plans and prints their schema.

use serde_json::{Map, Value, json};

use latchwork_core::plan;
use latchwork_core::plan::{Catalog, Plan};

use crate::args::{ParameterArgs, PlanArgs, PlanCheckArgs, PlanCommand};
use crate::context::CommandContext;
use crate::error::Exit;
use crate::files::parameters;
use crate::files::source::InputSource;
use crate::plugins::admission::{AcceptAllCatalog, plan_refused};
use crate::plugins::{admission, catalog};
use crate::text::{Text, Tone};

/// Keys of a step, in the order in which the output explains them. Keys that are not in this list follow.
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

pub(crate) async fn run(args: PlanArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    match args.command {
        PlanCommand::Check(args) => check(&args, ctx),
        PlanCommand::Schema => {
            ctx.printer.raw(plan::SCHEMA);
            Ok(Exit::Done)
        }
    }
}

fn check(args: &PlanCheckArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let source = InputSource::read(&args.plan, ctx)?;
    let (request, registry) = match args.no_plugins {
        true => {
            let checked = plan::check_request(&source.text, &AcceptAllCatalog);
            (checked.map_err(|violations| plan_refused(&source.name, &violations))?, None)
        }
        false => {
            let config = ctx.config(source.folder.as_deref())?;
            let survey = admission::precheck(ctx, &config, &source.name, &source.text)?;
            let registry = catalog::load_from_survey(ctx.session(), &config, survey)?;
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

fn accepted_line(plan: &Plan, no_plugins: bool) -> String {
    let unchecked = match no_plugins {
        true => "\noperators were not checked",
        false => "",
    };
    let steps = plan.steps.iter().map(|step| step.step_id.to_string()).collect::<Vec<_>>().join(", ");
    format!("{} is valid: {} steps ({steps}), hash {}{unchecked}", plan.plan_id, plan.steps.len(), plan.hash())
}
