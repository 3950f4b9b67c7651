//! Files a claim for a lost parcel at the carrier, and finds it again by the key of the call.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, http};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const CLAIMS: &str = "https://carrier.example/claims";

#[derive(Deserialize, JsonSchema)]
struct Loss {
    parcel: String,
    cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Claim {
    id: String,
}

fn file(loss: Loss, context: &tool::Context) -> Result<Output<Claim>, Error> {
    if loss.parcel.is_empty() {
        return Err(Error::invalid_input("the parcel is empty"));
    }
    let response = http::Request::post(CLAIMS)
        .header("content-type", "application/json")
        .header("reference", context.external_key())
        .body(json!({ "parcel": loss.parcel, "cents": loss.cents }).to_string())
        .send()?;
    match response.status() {
        200 | 201 => {}
        429 => return Err(Error::rate_limit("the carrier answered 429")),
        status @ 400..=499 => return Err(Error::invalid_input(format!("the carrier answered {status}"))),
        status => return Err(Error::temporary_provider_error(format!("the carrier answered {status}"))),
    }
    let claim: Claim = serde_json::from_slice(response.body())
        .map_err(|error| Error::schema_validation_failed(format!("the claim cannot be read: {error}")))?;
    Ok(filed(claim))
}

/// Called after a crash: looks for the claim with this reference.
fn find(_: Loss, key: &str) -> Result<Verdict<Output<Claim>>, Error> {
    let response = http::Request::get(&format!("{CLAIMS}?reference={key}")).send()?;
    let claims: Vec<Claim> = serde_json::from_slice(response.body()).unwrap_or_default();
    Ok(match claims.into_iter().next() {
        Some(claim) => Verdict::Happened(filed(claim)),
        None => Verdict::DidNotHappen,
    })
}

fn filed(claim: Claim) -> Output<Claim> {
    let change = Change::new("claim", &claim.id, "create").external_ref(format!("{CLAIMS}/{}", claim.id));
    Output::new(claim).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Parcel.Claim", file)
            .describe("Files a claim for a lost parcel.")
            .effects([Effect::ExternalWrite])
            .settles_within(Duration::from_secs(60))
            .reconcile(find),
    ],
    exports: [reconcile],
}
