use latchwork_guest::{Determinism, Error, rng, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shipment {
    goods: Vec<Good>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Good {
    name: String,
    cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Filing {
    codes: Vec<String>,
    duty: u64,
}

#[derive(Deserialize)]
struct Class {
    code: String,
    permille: u32,
}

fn file(shipment: Shipment, _: &step::Context) -> Result<Filing, Error> {
    if shipment.goods.is_empty() {
        return Err(Error::invalid_input("the shipment has no goods"));
    }
    let mut filing = Filing { codes: Vec::new(), duty: 0 };
    for good in &shipment.goods {
        let class: Class = tools::call("Tariff.Classify", &json!({ "name": good.name, "reference": rng::uuid() }))?;
        if class.permille > 1000 {
            return Err(Error::schema_validation_failed(format!("{} has a duty above its value", class.code)));
        }
        filing.duty += u64::from(good.cents) * u64::from(class.permille) / 1000;
        filing.codes.push(class.code);
    }
    Ok(filing)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("CustomsFiling.File", file)
            .describe("Computes the duty of a shipment.")
            // The tariff is fixed by the name of the goods.
            .determinism(Determinism::Pure),
    ],
}
