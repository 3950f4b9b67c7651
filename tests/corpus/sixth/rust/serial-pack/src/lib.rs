//! Packs the parts of a serial number into one number: site, year and unit.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parts {
    site: u16,
    year: u16,
    unit: u32,
}

#[derive(Serialize, JsonSchema)]
struct Serial {
    serial: u64,
    text: String,
}

fn pack(parts: Parts, _: &step::Context) -> Result<Serial, Error> {
    if !(2000..2128).contains(&parts.year) {
        return Err(Error::invalid_input("the year is out of range"));
    }
    if parts.unit >= 1 << 31 {
        return Err(Error::invalid_input("the number of the unit is too large"));
    }
    let year = u64::from(parts.year - 2000);
    let serial = u64::from(parts.site) << 38 | year << 31 | u64::from(parts.unit);
    Ok(Serial { serial, text: format!("{:04X}-{:02}-{}", parts.site, year, parts.unit) })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Serial.Pack", pack).describe("Packs a serial number."),
    ],
}
