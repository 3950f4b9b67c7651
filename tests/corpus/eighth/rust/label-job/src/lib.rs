use latchwork_guest::tool::{self, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LABELS: &str = "https://labels.example/v1/labels";

#[derive(Deserialize, JsonSchema)]
struct Label {
    address: String,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    reference: String,
}

/// The service puts the order into its queue and answers 202. The label is in the list when a printer has taken it.
fn order(label: Label, context: &tool::Context) -> Result<Output<Ordered>, Error> {
    if label.address.lines().count() < 2 {
        return Err(Error::invalid_input("an address has at least two lines"));
    }
    let reference = context.external_key().to_owned();
    let body = json!({ "reference": reference, "address": label.address });
    let response =
        http::Request::post(LABELS).header("content-type", "application/json").body(body.to_string()).send()?;
    match response.status() {
        202 => Ok(Output::new(Ordered { reference })),
        400 | 422 => Err(Error::invalid_input("the service does not know this address")),
        status => {
            Err(Error::temporary_provider_error(format!("the label service answered {status}")).applied_unknown())
        }
    }
}

fn find(_: Label, key: &str) -> Result<Verdict<Output<Ordered>>, Error> {
    let response = http::Request::get(&format!("{LABELS}?reference={key}")).send()?;
    if response.status() != 200 {
        return Ok(Verdict::Unknown);
    }
    match serde_json::from_slice::<Vec<Value>>(response.body()) {
        Ok(labels) if labels.is_empty() => Ok(Verdict::DidNotHappen),
        Ok(_) => Ok(Verdict::Happened(Output::new(Ordered { reference: key.to_owned() }))),
        Err(_) => Ok(Verdict::Unknown),
    }
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Label.Order", order)
            .describe("Orders a printed label.")
            .effects([Effect::ExternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
