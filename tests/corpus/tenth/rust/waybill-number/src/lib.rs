//! Makes the number that is printed on the waybill of a freight train.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Serial numbers of a year, for one yard.
const SERIALS: u64 = 100_000_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shipment {
    /// Number of the freight yard, up to six digits.
    yard: u32,
    year: u32,
    serial: u32,
}

#[derive(Serialize, JsonSchema)]
struct Waybill {
    /// Yard, year, serial number and check digit, read as one number.
    number: u64,
    /// The same in groups, as it is printed.
    printed: String,
}

fn number(shipment: Shipment, _: &step::Context) -> Result<Waybill, Error> {
    if shipment.yard == 0 || shipment.yard > 999_999 {
        return Err(Error::invalid_input(format!("{} is no yard", shipment.yard)));
    }
    if !(2000..2100).contains(&shipment.year) {
        return Err(Error::invalid_input(format!("{} is no year of a waybill", shipment.year)));
    }
    if u64::from(shipment.serial) >= SERIALS {
        return Err(Error::invalid_input("the serial number has more than eight digits"));
    }
    let year = u64::from(shipment.year - 2000);
    let digits = (u64::from(shipment.yard) * 100 + year) * SERIALS + u64::from(shipment.serial);
    let check = check_digit(digits);
    let printed = format!("{} {year:02} {:08} {check}", shipment.yard, shipment.serial);
    Ok(Waybill { number: digits * 10 + check, printed })
}

/// Weights 3 and 1 in turn from the right, as on a bar code.
fn check_digit(mut digits: u64) -> u64 {
    let (mut sum, mut weight) = (0, 3);
    while digits > 0 {
        sum += digits % 10 * weight;
        weight = 4 - weight;
        digits /= 10;
    }
    (10 - sum % 10) % 10
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Waybill.Number", number).describe("Makes the number of a waybill.")],
}
