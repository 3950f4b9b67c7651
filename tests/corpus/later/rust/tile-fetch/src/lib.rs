use std::time::Duration;

use latchwork_guest::tool::{self, Output};
use latchwork_guest::{Error, http, secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    zoom: u32,
    column: u32,
    row: u32,
}

#[derive(Serialize, JsonSchema)]
struct Tile {
    bytes: usize,
    etag: Option<String>,
}

fn fetch(place: Place, _: &tool::Context) -> Result<Output<Tile>, Error> {
    if place.zoom > 18 {
        return Err(Error::invalid_input(format!("zoom {} is too large: at most 18", place.zoom)));
    }
    // The map service takes its key as a parameter of the query.
    let url = format!(
        "https://maps.example/tile?zoom={}&column={}&row={}&key={}",
        place.zoom,
        place.column,
        place.row,
        secrets::get("MAPS_KEY")?
    );
    let response = http::Request::get(&url).timeout(Duration::from_secs(5)).send()?;
    match response.status() {
        200 => Ok(Output::new(Tile { bytes: response.body().len(), etag: response.header("etag").map(str::to_owned) })),
        401 | 403 => Err(Error::auth_forbidden("the map service refused the key")),
        404 => Err(Error::invalid_input("the map has no such tile")),
        429 => Err(Error::rate_limit("the map service limits the rate")),
        status => Err(Error::temporary_provider_error(format!("the map service answered with status {status}"))),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [tool::operator("Tile.Fetch", fetch).describe("Reads a tile of a map and returns its size.")],
}
