//! `latch explain`: prints the page of a code.

use serde_json::json;

use latchwork_core::encoding::suggest;
use latchwork_core::model::error_docs;
use latchwork_core::model::error_docs::ErrorPage;
use latchwork_core::plan;
use latchwork_tooling::check;

use crate::args::ExplainArgs;
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::text::{Text, Tone, table};

pub(crate) fn run(args: &ExplainArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    let Some(code) = &args.code else {
        list(ctx);
        return Ok(Exit::Done);
    };
    if let Some((rule, asks)) = plan::RULES.iter().find(|(rule, _)| rule.eq_ignore_ascii_case(code)) {
        let document = json!({ "code": rule, "title": asks, "page": asks });
        ctx.answer(&document, || format!("{rule}, a rule of plans: {asks}"));
        return Ok(Exit::Done);
    }
    let Some(page) = page(code) else {
        let near = suggest::similar(code, all().map(|page| page.code).chain(plan::RULES.iter().map(|(rule, _)| *rule)));
        let help = match near.as_slice() {
            [] => "`latch explain` lists all of them".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(CliError::input(error_docs::NO_SUCH_CODE, format!("there is no code `{code}`: {help}")).into());
    };
    ctx.answer(&json!({ "code": page.code, "title": page.title(), "page": page.text }), || {
        let paint = |line: &str| match line.starts_with('#') {
            true => Tone::Title.of(line.trim_start_matches(['#', ' '])),
            false => Text::from(line),
        };
        Text::lines(page.text.trim_end().lines().map(paint))
    });
    Ok(Exit::Done)
}

/// Returns every page: error codes, then rules of `latch plugin check`.
fn all() -> impl Iterator<Item = ErrorPage> {
    let rules = check::RULES.iter().map(|rule| ErrorPage { code: rule.id, text: rule.page });
    error_docs::all().iter().copied().chain(rules)
}

fn page(code: &str) -> Option<ErrorPage> {
    all().find(|page| page.code.eq_ignore_ascii_case(code))
}

fn list(ctx: &CommandContext<'_>) {
    let entry = |page: ErrorPage| json!({ "code": page.code, "title": page.title() });
    let rule = |(code, asks): &(&str, &str)| json!({ "code": code, "title": asks });
    let codes: Vec<_> = all().map(entry).chain(plan::RULES.iter().map(rule)).collect();
    let document = json!({ "codes": codes });
    ctx.answer(&document, || {
        let row = |(code, means): (&str, &str)| [code.to_owned(), means.to_owned()];
        let pages = all().map(|page| (page.code, page.title()));
        table(["code", "means"], &pages.chain(plan::RULES.iter().copied()).map(row).collect::<Vec<_>>())
    });
}
