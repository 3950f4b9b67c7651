//! Queryable tools whose reconcile function answers wrongly, and one correct tool.

use latchwork_guest::tool::{Output, Verdict};
use latchwork_guest::{Effect, Error, fs, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    item: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Done {
    item: String,
}

fn done(args: Args) -> Output<Done> {
    Output::new(Done { item: args.item })
}

fn file(key: &str) -> String {
    format!("/out/{key}")
}

fn place(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    fs::publish(&file(context.external_key()), args.item.as_bytes(), context.external_key())?;
    Ok(done(args))
}

fn looks(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(done(args)) } else { Verdict::DidNotHappen })
}

fn forgets(_: Args, _: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(Verdict::DidNotHappen)
}

fn invents(args: Args, _: &str) -> Result<Verdict<Output<Done>>, Error> {
    Ok(Verdict::Happened(done(args)))
}

macro_rules! placed {
    ($name:literal, $reconcile:ident) => {
        tool::operator($name, place).describe("Creates a file.").effects([Effect::ExternalWrite]).reconcile($reconcile)
    };
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        placed!("Good.Place", looks),
        placed!("Bad.Forgets", forgets),
        placed!("Bad.Invents", invents),
    ],
    exports: [reconcile],
}
