use latchwork_guest::{Error, log, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Vehicle {
    town: String,
    number: u32,
    electric: bool,
}

#[derive(Serialize, JsonSchema)]
struct Plate {
    plate: String,
    length: usize,
}

/// Code of a town: its first three letters, or fewer for a short name.
fn code(town: &str) -> String {
    let town = town.trim();
    let end = town.len().min(3);
    town[..end].to_uppercase()
}

fn assign(vehicle: Vehicle, _: &step::Context) -> Result<Plate, Error> {
    if vehicle.town.trim().is_empty() {
        return Err(Error::invalid_input("the town has no name"));
    }
    if vehicle.number == 0 || vehicle.number > 9999 {
        return Err(Error::invalid_input(format!("{} is not between 1 and 9999", vehicle.number)));
    }
    let suffix = if vehicle.electric { "E" } else { "" };
    let plate = format!("{}-{:04}{suffix}", code(&vehicle.town), vehicle.number);
    log::debug!("assigned {plate}");
    Ok(Plate { length: plate.chars().count(), plate })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("PlateCode.Assign", assign).describe("Assigns the plate of a vehicle.")],
}
