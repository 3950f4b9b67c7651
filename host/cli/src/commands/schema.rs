//! `latch schema`: prints the JSON Schema of each document that a person writes.

use serde_json::json;

use latchwork_tooling::schemas::Document;

use crate::args::SchemaArgs;
use crate::context::CommandContext;
use crate::error::Exit;
use crate::text::{Text, table};

pub(crate) fn run(args: &SchemaArgs, ctx: &CommandContext<'_>) -> Exit {
    match args.name {
        Some(name) => ctx.printer.raw(&Document::from(name).text()),
        None => list(ctx),
    }
    Exit::Done
}

fn list(ctx: &CommandContext<'_>) {
    let entry = |document: Document| json!({ "name": document.name(), "describes": document.description() });
    let document = json!({ "schemas": Document::ALL.map(entry) });
    ctx.answer(&document, || {
        let rows = Document::ALL.map(|document| [document.name().to_owned(), document.description().to_owned()]);
        let next = "next: latch schema plan > plan.schema.json";
        table(["NAME", "DESCRIBES"], &rows).under(Text::unwrapped(next))
    });
}
