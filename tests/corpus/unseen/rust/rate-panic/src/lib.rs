use latchwork_guest::serde_json::json;
use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Amount {
    amount_cents: u32,
    currency: String,
}

#[derive(Deserialize)]
struct Rate {
    per_mille: u32,
}

#[derive(Serialize, JsonSchema)]
struct Converted {
    cents: u64,
}

fn convert(amount: Amount, _: &step::Context) -> Result<Converted, Error> {
    let rate: Rate =
        tools::call("Rates.Get", &json!({ "currency": amount.currency })).expect("every currency has a rate");
    Ok(Converted { cents: u64::from(amount.amount_cents) * u64::from(rate.per_mille) / 1000 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Amount.Convert", convert)
            .describe("Converts an amount with the present rate.")
            .determinism(Determinism::External),
    ],
}
