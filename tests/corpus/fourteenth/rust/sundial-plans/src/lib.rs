//! `Sundial.Store`: computes the hour lines of a sundial and keeps them with a drawing of the dial.

use latchwork_guest::tool::{self, Change, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Dial {
    site: String,
    /// The latitude is in degrees, and negative south of the equator.
    latitude: f64,
    /// The drawing of the dial is SVG.
    drawing: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plan {
    /// The plan has this name in the map.
    plan: String,
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    hour: u32,
    /// The angle to the noon line is in degrees.
    angle: f64,
}

/// This entry of the map describes a plan.
#[derive(Serialize)]
struct Sheet<'d> {
    site: &'d str,
    latitude: f64,
    lines: &'d [Line],
}

fn store(dial: Dial, context: &tool::Context) -> Result<Output<Plan>, Error> {
    check(&dial)?;
    let lines: Vec<Line> = (8..=16).map(|hour| Line { hour, angle: angle(dial.latitude, hour) }).collect();
    let sheet = serde_json::to_vec(&Sheet { site: &dial.site, latitude: dial.latitude, lines: &lines })
        .map_err(|error| Error::invalid_input(error.to_string()))?;

    let key = context.external_key();
    kv::set(&sheet_key(key), &sheet).map_err(|error| error.context("keeping the sheet"))?;
    kv::set(&drawing_key(key), dial.drawing.as_bytes()).map_err(|error| error.context("keeping the drawing"))?;

    let change = Change::new("sundial", key, "create").external_ref(sheet_key(key));
    Ok(Output::new(Plan { plan: key.to_owned(), lines }).change(change))
}

fn sheet_key(key: &str) -> String {
    format!("sheet {key}")
}

fn drawing_key(key: &str) -> String {
    format!("drawing {key}")
}

fn check(dial: &Dial) -> Result<(), Error> {
    if dial.site.trim().is_empty() || dial.site.len() > 200 {
        return Err(Error::invalid_input("site: 1 to 200 bytes"));
    }
    if !(-66.0..=66.0).contains(&dial.latitude) {
        return Err(Error::invalid_input("latitude: a horizontal dial needs -66 to 66 degrees"));
    }
    if !dial.drawing.trim_start().starts_with("<svg") {
        return Err(Error::invalid_input("drawing: is no SVG"));
    }
    Ok(())
}

/// Returns the angle of the hour line on a horizontal dial, rounded to a tenth of a degree.
fn angle(latitude: f64, hour: u32) -> f64 {
    let hour_angle = (f64::from(hour) - 12.0) * 15.0;
    let line = (latitude.to_radians().sin() * hour_angle.to_radians().tan()).atan().to_degrees();
    // The sum turns a negative zero into zero.
    (line * 10.0).round() / 10.0 + 0.0
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sundial.Store", store)
            .describe("Computes the hour lines of a sundial and keeps them with a drawing.")
            .effects([Effect::InternalWrite]),
    ],
    exports: [],
}
