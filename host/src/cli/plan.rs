//! `latch plan`: what a plan must be, and whether one is.

use std::io::Read as _;
use std::path::Path;

use latchwork_core::manifest::{Determinism, PluginKind};
use latchwork_core::pages;
use latchwork_core::plan::{self, Catalog, OperatorInfo, Plan, Violation};
use serde_json::json;

use super::args::{PlanArgs, PlanCheckArgs, PlanCommand};
use super::catalog;
use super::context::Context;
use super::error::{CliError, Exit, Problem};

/// Larger files are none that anybody means: a device that never ends, most often.
const READ_MAX: u64 = 1 << 30;

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
    let text = read(&args.plan)?;
    let catalog: Box<dyn Catalog> = match args.no_plugins {
        true => Box::new(Unchecked),
        false => Box::new(catalog::registry(&ctx.config(args.plan.parent())?)?),
    };
    let request = plan::check_request(&text, &*catalog).map_err(|violations| refused(&args.plan, &violations))?;
    let plan = request.plan;
    let document = json!({ "plan_id": plan.plan_id, "plan_hash": plan.hash(), "plan": plan });
    ctx.answer(&document, || accepted(&plan, args.no_plugins));
    Ok(Exit::Done)
}

/// Every violation, in the order of the text.
pub(super) fn refused(path: &Path, violations: &[Violation]) -> CliError {
    let count = match violations.len() {
        1 => "a problem".to_owned(),
        n => format!("{n} problems"),
    };
    CliError::input(pages::PLAN_REFUSED, format!("{} is refused: it has {count}", path.display()))
        .with(violations.iter().map(Problem::from))
}

/// The bytes of a file that was named on the command line.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let unreadable = |why: String| CliError::input(pages::INPUT_UNREADABLE, format!("{} {why}", path.display()));
    if std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > READ_MAX) {
        return Err(unreadable(format!("has more than {} MiB", READ_MAX >> 20)));
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(READ_MAX + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() as u64 > READ_MAX => Err(unreadable(format!("has more than {} MiB", READ_MAX >> 20))),
        Ok(_) => Ok(bytes),
        Err(error) => Err(unreadable(format!("cannot be read: {error}"))),
    }
}

fn accepted(plan: &Plan, no_plugins: bool) -> String {
    let unchecked = match no_plugins {
        true => "\noperators were not checked",
        false => "",
    };
    let steps = plan.steps.iter().map(|step| step.step_id.to_string()).collect::<Vec<_>>().join(", ");
    format!("{} holds: {} steps ({steps}), hash {}{unchecked}", plan.plan_id, plan.steps.len(), plan.hash())
}

/// Believes a plan about its operators: each is there and does no more than its step admits.
struct Unchecked;

impl Catalog for Unchecked {
    fn operator(&self, _name: &str) -> Option<OperatorInfo> {
        // A tool may be used wherever a plan names an operator.
        Some(OperatorInfo { effects: vec![], determinism: Determinism::Pure, kind: PluginKind::Tool, compensate: true })
    }

    fn is_known(&self) -> bool {
        false
    }

    fn names(&self) -> Vec<String> {
        vec![]
    }
}
