//! Prices an aerotow: by the tariff service of the airfield, else by the printed list of the club.

use latchwork_guest::{Determinism, Error, log, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tow {
    airfield: String,
    /// Release height in metres.
    height: u32,
    /// Price of the printed list, in cents for each 100 m.
    list_cents: u32,
}

#[derive(Serialize, JsonSchema)]
struct Price {
    cents: u64,
    from_list: bool,
}

#[derive(Deserialize)]
struct Tariff {
    cents_per_100_m: u32,
}

fn price(tow: Tow, _: &step::Context) -> Result<Price, Error> {
    if !(100..=3000).contains(&tow.height) {
        return Err(Error::invalid_input("the release height is between 100 m and 3000 m"));
    }
    let hundreds = u64::from(tow.height.div_ceil(100));
    match tools::call::<_, Tariff>("Airfield.Tariff", &json!({ "airfield": tow.airfield })) {
        Ok(tariff) => Ok(Price { cents: hundreds * u64::from(tariff.cents_per_100_m), from_list: false }),
        Err(error) => {
            // The detail has the code of the host. Without budget the treasurer has to act, and the list is no help.
            let reason = error.detail_json().expect("an error of the host has a detail");
            if reason.contains("BUDGET_EXCEEDED") {
                return Err(error);
            }
            log::warn!("no tariff of {}: {} ({reason})", tow.airfield, error.message());
            Ok(Price { cents: hundreds * u64::from(tow.list_cents), from_list: true })
        }
    }
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Aerotow.Price", price)
            .describe("Prices an aerotow to a release height.")
            .determinism(Determinism::External),
    ],
}
