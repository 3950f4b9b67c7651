use std::time::Duration;

use latchwork_guest::serde_json::{Value, from_slice, json};
use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const EDITS: &str = "https://wiki.example/edits";

#[derive(Deserialize, JsonSchema)]
struct Edit {
    page: String,
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Edited {
    id: String,
}

fn json_of<'b, T: Deserialize<'b>>(response: &'b http::Response) -> Result<T, Error> {
    from_slice(response.body()).map_err(|error| Error::schema_validation_failed(format!("the wiki: {error}")))
}

fn edited(body: &Value) -> Result<Output<Edited>, Error> {
    let id = body["id"].as_str().ok_or_else(|| Error::schema_validation_failed("the edit has no id"))?;
    Ok(Output::new(Edited { id: id.to_owned() }).change(Change::new("edit", id, "create")))
}

fn edit(edit: Edit, context: &tool::Context) -> Result<Output<Edited>, Error> {
    let response = http::Request::post(EDITS)
        .header("content-type", "application/json")
        .body(json!({ "page": edit.page, "text": edit.text, "reference": context.external_key() }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => edited(&json_of(&response)?),
        429 => Err(Error::rate_limit("the wiki limits the rate")),
        status @ (400..=407 | 410 | 413..=499) => Err(Error::invalid_input(format!("the wiki answered {status}"))),
        status => Err(Error::temporary_provider_error(format!("the wiki answered {status}"))),
    }
}

/// Searches for the edit with the key of the call.
fn find(_: Edit, key: &str) -> Result<Verdict<Output<Edited>>, Error> {
    let response = http::Request::get(&format!("{EDITS}?reference={key}")).send()?;
    if response.status() != 200 {
        return Ok(Verdict::Unknown);
    }
    let found: Vec<Value> = json_of(&response)?;
    match found.first() {
        Some(one) => Ok(Verdict::Happened(edited(one)?)),
        None => Ok(Verdict::DidNotHappen),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Page.Edit", edit)
            .describe("Edits a page of the wiki.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
