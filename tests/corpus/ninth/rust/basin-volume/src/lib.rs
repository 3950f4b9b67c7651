//! Volume of the basins of a waterworks, exact to the cubic millimetre.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Works {
    basins: Vec<Basin>,
}

/// Inner measures of a basin in millimetres.
#[derive(Deserialize, JsonSchema)]
struct Basin {
    name: String,
    length: u32,
    width: u32,
    depth: u32,
}

#[derive(Serialize, JsonSchema)]
struct Volumes {
    basins: Vec<Volume>,
    total_mm3: u64,
}

#[derive(Serialize, JsonSchema)]
struct Volume {
    name: String,
    mm3: u64,
}

/// Longest side: 5 km.
const LONGEST: u32 = 5_000_000;
/// Largest depth: 50 m.
const DEEPEST: u32 = 50_000;

fn measure(works: Works, _: &step::Context) -> Result<Volumes, Error> {
    let mut total_mm3: u64 = 0;
    let mut basins = Vec::new();
    for basin in works.basins {
        if basin.length > LONGEST || basin.width > LONGEST || basin.depth > DEEPEST {
            return Err(Error::invalid_input(format!("{} is larger than 5 km by 5 km by 50 m", basin.name)));
        }
        let mm3 = u64::from(basin.length) * u64::from(basin.width) * u64::from(basin.depth);
        total_mm3 = total_mm3.checked_add(mm3).ok_or_else(|| Error::invalid_input("the total is too large"))?;
        basins.push(Volume { name: basin.name, mm3 });
    }
    Ok(Volumes { basins, total_mm3 })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Waterworks.Measure", measure).describe("Returns the volume of each basin.")],
}
