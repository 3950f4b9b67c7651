//! Tools that post one request body per execution to a counting server.

use std::time::Duration;

use latchwork_guest::tool::{Output, Verdict};
use latchwork_guest::{Effect, Error, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Header that identifies the call to the server.
const KEY: &str = "idempotency-key";

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// URL that the body is posted to.
    url: String,
    /// JSON value to post as the body.
    note: Value,
    /// Minimum length of the body in bytes. Shorter bodies are padded with spaces.
    #[serde(default)]
    bytes: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    note: Value,
}

fn post(args: Args, context: &tool::Context) -> Result<Output<Done>, Error> {
    let mut body = args.note.to_string();
    let missing = (args.bytes as usize).saturating_sub(body.len());
    body.extend(std::iter::repeat_n(' ', missing));
    let answer = http::Request::post(&args.url).header(KEY, context.external_key()).body(body).send()?;
    match answer.status() {
        200 => Ok(Output::new(Done { note: args.note })),
        status => Err(Error::temporary_provider_error(format!("{} answered {status}", args.url))),
    }
}

fn reconcile(args: Args, key: &str) -> Result<Verdict<Output<Done>>, Error> {
    let answer = http::Request::get(&args.url).header(KEY, key).send()?;
    Ok(match answer.status() {
        200 => Verdict::Happened(Output::new(Done { note: args.note })),
        404 => Verdict::DidNotHappen,
        _ => Verdict::Unknown,
    })
}

latchwork_guest::export_tool! {
    version: "1.0.0",
    operators: [
        tool::operator("Post.Opaque", post)
            .describe("Posts a body. The call cannot be reconciled.")
            .effects([Effect::ExternalSend]),
        tool::operator("Post.Keyed", post)
            .describe("Posts a body. The server applies requests with the same key once.")
            .effects([Effect::ExternalSend])
            .idempotent_by_key(Duration::from_secs(7 * 86_400)),
        tool::operator("Post.Queryable", post)
            .describe("Posts a body, and can be reconciled by asking the server.")
            .effects([Effect::ExternalSend])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
