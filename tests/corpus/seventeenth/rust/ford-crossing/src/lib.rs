//! `Ford.Assess`: decides which fords of a river can be crossed, and announces the ones that close.

use latchwork_guest::{Determinism, Error, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Most characters of a ford's name in the name of an event.
const NAME_MAX: usize = 110;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Vehicle {
    Foot,
    Cart,
    Tractor,
}

impl Vehicle {
    /// Greatest depth in centimetres, and greatest product of depth in metres and speed in metres per second.
    fn bounds(self) -> (u32, f64) {
        match self {
            Vehicle::Foot => (50, 0.4),
            Vehicle::Cart => (70, 0.6),
            Vehicle::Tractor => (110, 1.2),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    river: String,
    vehicle: Vehicle,
    fords: Vec<Ford>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ford {
    /// Name of the ford in the language of the district.
    name: String,
    depth_cm: u32,
    /// Speed of the water in metres per second.
    speed: f64,
    /// True if the ford was open until now.
    open: bool,
}

#[derive(Serialize, JsonSchema)]
struct Assessment {
    river: String,
    open: Vec<String>,
    closed: Vec<Closure>,
}

#[derive(Serialize, JsonSchema)]
struct Closure {
    name: String,
    reason: String,
}

fn assess(input: Input, _: &step::Context) -> Result<Assessment, Error> {
    if input.fords.len() > 500 {
        return Err(Error::invalid_input("fords: more than 500"));
    }
    let (depth_max, force_max) = input.vehicle.bounds();
    let mut result = Assessment { river: input.river, open: Vec::new(), closed: Vec::new() };
    for ford in input.fords {
        if ford.name.trim().is_empty() {
            return Err(Error::invalid_input(format!("a ford of the {} has no name", result.river)));
        }
        if !(0.0..=20.0).contains(&ford.speed) {
            return Err(Error::invalid_input(format!("{}: the speed is outside of 0 to 20", ford.name)));
        }
        let force = f64::from(ford.depth_cm) / 100.0 * ford.speed;
        let reason = if ford.depth_cm > depth_max {
            format!("{} cm deep", ford.depth_cm)
        } else if force > force_max {
            format!("current of {force:.2}")
        } else {
            result.open.push(ford.name);
            continue;
        };
        if ford.open {
            let short: String = ford.name.trim().chars().take(NAME_MAX).collect();
            events::emit(
                &format!("ford-closed:{short}"),
                &json!({ "river": result.river, "ford": ford.name, "reason": reason }),
            )?;
        }
        result.closed.push(Closure { name: ford.name, reason });
    }
    Ok(result)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Ford.Assess", assess)
            .describe("Decides which fords can be crossed, and announces new closures.")
            .determinism(Determinism::Pure),
    ],
}
