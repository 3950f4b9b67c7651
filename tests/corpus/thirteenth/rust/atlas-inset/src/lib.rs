//! `Inset.Place`: places the inset map of a town into the folder of an atlas, one file for each call.

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Inset {
    #[schemars(length(min = 1, max = 80))]
    town: String,
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    longitude: f64,
    /// Side of the map, in kilometres.
    #[schemars(range(min = 1, max = 200))]
    side_km: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Placed {
    file: String,
    /// West, south, east, north.
    bounds: [f64; 4],
}

/// The external key has neither `+` nor `=`, so different keys have different files.
fn file(key: &str) -> String {
    format!("/atlas/{}.json", key.replace(':', "+").replace('/', "="))
}

fn bounds(inset: &Inset) -> [f64; 4] {
    let half = f64::from(inset.side_km) / 2.0 / 111.2;
    let wide = half / inset.latitude.to_radians().cos().max(0.05);
    [inset.longitude - wide, inset.latitude - half, inset.longitude + wide, inset.latitude + half]
        .map(|degrees| (degrees * 10_000.0).round() / 10_000.0)
}

/// The file follows from the arguments alone.
fn content(inset: &Inset) -> String {
    let [west, south, east, north] = bounds(inset);
    json!({ "town": inset.town, "west": west, "south": south, "east": east, "north": north }).to_string()
}

/// A short fingerprint of a file (FNV-1a), to see if it was edited.
fn version(content: &[u8]) -> String {
    let hash = content
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

fn placed(inset: &Inset, key: &str) -> Output<Placed> {
    let file = file(key);
    let change = Change::new("inset", key, "create").version(version(content(inset).as_bytes())).external_ref(&file);
    Output::new(Placed { bounds: bounds(inset), file }).change(change)
}

fn place(inset: Inset, context: &tool::Context) -> Result<Output<Placed>, Error> {
    let key = context.external_key();
    fs::replace(&file(key), content(&inset).as_bytes(), key)?;
    Ok(placed(&inset, key))
}

fn reconcile(inset: Inset, key: &str) -> Result<Verdict<Output<Placed>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(placed(&inset, key)) } else { Verdict::DidNotHappen })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read(&file(&change.resource_id)) {
        Ok(found) => Ok(Finding::compare(change.version.as_deref(), &version(&found))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the inset is missing".into())),
        Err(error) => Err(error.into()),
    }
}

fn compensate(inset: Inset, placed: Placed, key: &str) -> Result<Output<()>, Error> {
    // Nothing is changed yet, so a person can decide about a file that is missing or cannot be read.
    if fs::read(&placed.file).map_err(|error| Error::policy_denied(error.to_string()))? != content(&inset).as_bytes() {
        return Err(Error::policy_denied("the inset was edited by hand and is kept"));
    }
    match fs::remove(&placed.file) {
        Ok(()) => Ok(Output::new(()).change(Change::new("inset", key, "delete").external_ref(placed.file))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => {
            Err(Error::policy_denied("somebody else removed the inset"))
        }
        Err(error) => Err(error.into()),
    }
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Inset.Place", place)
            .describe("Places the inset map of a town into an atlas.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}
