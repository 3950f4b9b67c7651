//! `Sign.Show`: changes the text of the electronic sign at a level crossing.

use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Effect, Error, http, kv, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Signs by the name of their crossing. Each sign always has a text, and an entity tag for it.
const SIGNS: &str = "https://signs.rail.example/v2/crossings";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name of the crossing: `mill-lane`.
    crossing: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    crossing: String,
    text: String,
}

#[derive(Deserialize)]
struct Body {
    text: String,
}

/// Text and entity tag of a sign.
struct Sign {
    text: String,
    etag: String,
}

fn show(args: Args, _: &tool::Context) -> Result<Output<Shown>, Error> {
    let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if args.crossing.is_empty() || args.crossing.len() > 60 || !args.crossing.chars().all(named) {
        return Err(Error::invalid_input("crossing: 1 to 60 of a-z, 0-9 and hyphens"));
    }
    if args.text.trim().is_empty() || args.text.chars().count() > 120 {
        return Err(Error::invalid_input("text: 1 to 120 characters"));
    }
    let before = read(&args.crossing).map_err(Error::not_applied)?;
    kv::set(&copy(&args.crossing), before.text.as_bytes())?;
    let response = write(&args.crossing, &args.text, &before.etag)?;
    match response.status() {
        200..=299 => Ok(Output::new(Shown { crossing: args.crossing, text: args.text })),
        409 | 412 => {
            let now = read(&args.crossing).map_err(Error::applied_unknown)?;
            let error = Error::policy_denied(format!("the sign was changed meanwhile: {}", now.text));
            Err(if now.text == args.text { error.applied_unknown() } else { error })
        }
        status => Err(refusal(status)),
    }
}

/// Key of the copy of the text that a sign had before.
fn copy(crossing: &str) -> String {
    format!("before/{crossing}")
}

/// Gives the sign the text that it had before the call.
fn take_back(args: Args, _: Shown, _: &str) -> Result<Output<Shown>, Error> {
    let now = read(&args.crossing).map_err(Error::not_applied)?;
    if now.text != args.text {
        return Err(Error::policy_denied(format!("the sign has another text now: {}", now.text)));
    }
    let Some(kept) = kv::get(&copy(&args.crossing))? else {
        return Err(Error::policy_denied("the earlier text of the sign was not kept"));
    };
    let text = String::from_utf8(kept).map_err(|_| Error::policy_denied("the earlier text of the sign is damaged"))?;
    let response = write(&args.crossing, &text, &now.etag)?;
    match response.status() {
        200..=299 => Ok(Output::new(Shown { crossing: args.crossing, text })),
        409 | 412 => Err(Error::policy_denied("the sign was changed meanwhile")),
        status => Err(refusal(status)),
    }
}

fn read(crossing: &str) -> Result<Sign, Error> {
    let response = http::Request::get(&format!("{SIGNS}/{crossing}"))
        .header("authorization", &format!("Bearer {}", secrets::get("SIGN_TOKEN")?))
        .timeout(Duration::from_secs(8))
        .send()?;
    if response.status() != 200 {
        return Err(refusal(response.status()));
    }
    let etag = response.header("etag").ok_or_else(|| Error::dependency_unavailable("the sign has no entity tag"))?;
    let body: Body = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the sign has no text: {error}")))?;
    Ok(Sign { text: body.text, etag: etag.to_owned() })
}

fn write(crossing: &str, text: &str, etag: &str) -> Result<http::Response, Error> {
    let request = http::Request::new("PUT", &format!("{SIGNS}/{crossing}"))
        .header("authorization", &format!("Bearer {}", secrets::get("SIGN_TOKEN")?))
        .header("content-type", "application/json")
        .header("if-match", etag)
        .timeout(Duration::from_secs(8))
        .body(json!({ "text": text }).to_string());
    Ok(request.send()?)
}

fn refusal(status: u16) -> Error {
    let said = format!("the sign answered {status}");
    match status {
        401 | 403 => Error::auth_forbidden(said),
        429 => Error::rate_limit(said),
        400 | 404 | 405 | 410 | 413 | 415 | 422 => Error::invalid_input(said),
        _ => Error::temporary_provider_error(said),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sign.Show", show)
            .describe("Changes the text of the sign at a level crossing.")
            .effects([Effect::InternalWrite, Effect::ExternalWrite])
            .compensate(take_back),
    ],
    exports: [compensate],
}
