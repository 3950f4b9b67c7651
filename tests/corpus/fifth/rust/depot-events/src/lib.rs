//! Plans the loading of a depot: the trucks in the order of their departure. Each truck is reported by an event with
//! the time of the plan, to which its place is added, so that no two events have the same time.

use latchwork_guest::{Determinism, Error, clock, events, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Truck {
    plate: String,
    /// Minutes after midnight.
    departure: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Depot {
    trucks: Vec<Truck>,
}

#[derive(Serialize, JsonSchema)]
struct Plan {
    order: Vec<String>,
    planned_at: String,
}

fn plan(mut depot: Depot, _: &step::Context) -> Result<Plan, Error> {
    if depot.trucks.iter().any(|truck| truck.departure >= 24 * 60) {
        return Err(Error::invalid_input("a departure is after the end of the day"));
    }
    depot.trucks.sort_by(|a, b| (a.departure, &a.plate).cmp(&(b.departure, &b.plate)));
    let now = clock::now();
    let at_ns = now.seconds * 1_000_000_000 + i64::from(now.nanoseconds);
    for (place, truck) in depot.trucks.iter().enumerate() {
        let at_ns = at_ns + place as i64 + 1;
        events::emit("truck-planned", &json!({ "plate": truck.plate, "place": place + 1, "at_ns": at_ns }))?;
    }
    Ok(Plan { order: depot.trucks.into_iter().map(|truck| truck.plate).collect(), planned_at: now.to_string() })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Depot.Plan", plan).describe("Plans the loading of a depot.").determinism(Determinism::Stable),
    ],
}
