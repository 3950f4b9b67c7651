//! `Trellis.Plan`: posts and wire for the rows of a vineyard.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Vineyard {
    #[schemars(length(min = 1, max = 100))]
    rows: Vec<Row>,
    /// Distance of two vines, in centimetres.
    #[schemars(range(min = 50, max = 400))]
    spacing_cm: u32,
    /// A post stands after this number of vines.
    vines_per_post: u32,
    /// Wires one above the other.
    #[schemars(range(min = 1, max = 8))]
    wires: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Row {
    #[schemars(length(min = 1, max = 30))]
    name: String,
    #[schemars(range(min = 1, max = 500))]
    vines: u32,
}

#[derive(Serialize, JsonSchema)]
struct Plan {
    rows: Vec<Planned>,
    posts: usize,
    /// Wire for all rows, with ten percent for knots.
    wire_m: u64,
}

#[derive(Serialize, JsonSchema)]
struct Planned {
    name: String,
    /// Places of the posts, in centimetres from the head of the row.
    posts_cm: Vec<u32>,
}

fn plan(vineyard: Vineyard, _: &step::Context) -> Result<Plan, Error> {
    if vineyard.spacing_cm == 0 {
        return Err(Error::invalid_input("spacing_cm: the vines stand in one another"));
    }
    let mut rows = Vec::new();
    let mut length_cm: u64 = 0;
    for row in vineyard.rows {
        let end = row.vines * vineyard.spacing_cm;
        let mut posts_cm: Vec<u32> =
            (0..=row.vines).step_by(vineyard.vines_per_post as usize).map(|vine| vine * vineyard.spacing_cm).collect();
        if posts_cm.last() != Some(&end) {
            posts_cm.push(end);
        }
        length_cm += u64::from(end);
        rows.push(Planned { name: row.name, posts_cm });
    }
    let posts = rows.iter().map(|row| row.posts_cm.len()).sum();
    let wire_m = (length_cm * u64::from(vineyard.wires) * 11).div_ceil(1000);
    Ok(Plan { rows, posts, wire_m })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Trellis.Plan", plan).describe("Plans the posts and the wire of a vineyard."),
    ],
}
