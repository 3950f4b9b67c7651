use std::collections::BTreeMap;

use latchwork_guest::{Determinism, Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Asset {
    id: String,
    attributes: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
struct Description {
    id: String,
    kind: &'static str,
    #[serde(flatten)]
    attributes: BTreeMap<String, String>,
}

fn describe(asset: Asset, _: &step::Context) -> Result<Description, Error> {
    let attributes = asset.attributes.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect();
    Ok(Description { id: asset.id, kind: "asset", attributes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Asset.Describe", describe)
            .describe("Describes an asset with all its attributes.")
            .determinism(Determinism::Pure),
    ],
}
