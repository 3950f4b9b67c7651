//! Files the plates of an aerial survey in the folder of the archive.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plate {
    sheet: String,
    altitude_m: u32,
    /// Corner coordinates: longitude and latitude in degrees.
    corners: Vec<(f64, f64)>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filed {
    file: String,
    sheet: String,
}

/// The archive is on a share that allows neither colons nor slashes in names.
fn file(key: &str) -> String {
    format!("/plates/{}.json", key.replace([':', '/'], "-"))
}

fn file_plate(plate: Plate, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if plate.corners.len() < 3 || plate.corners.len() > 1000 {
        return Err(Error::invalid_input("a plate has 3 to 1000 corners"));
    }
    let key = context.external_key();
    let content = json!({ "sheet": plate.sheet, "altitude_m": plate.altitude_m, "corners": plate.corners });
    fs::replace(&file(key), content.to_string().as_bytes(), key)?;
    Ok(filed(plate, key))
}

fn find(plate: Plate, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(filed(plate, key)) } else { Verdict::DidNotHappen })
}

fn filed(plate: Plate, key: &str) -> Output<Filed> {
    let file = file(key);
    let change = Change::new("plate", key, "create").external_ref(&file);
    Output::new(Filed { file, sheet: plate.sheet }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Plate.File", file_plate)
            .describe("Files a plate of an aerial survey.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
