//! Computes the lots of a recorded plat: area and perimeter of each lot from its corner points.
//!
//! A deed names the plat by path and SHA-256, so the same deed always gives the same lots.

mod sha;

use latchwork_guest::{Determinism, Error, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deed {
    /// Path of the plat in the archive: lines such as `lot 12: 0,0 30,0 30,25 0,25`, in metres.
    plat: String,
    /// SHA-256 of the plat, as the recorder's office certified it.
    sha256: String,
}

/// Answer of the archive.
#[derive(Deserialize)]
struct Sheet {
    text: String,
    revision: u32,
}

#[derive(Serialize, JsonSchema)]
struct Lot {
    lot: String,
    corners: usize,
    /// Twice the area in square metres, a whole number for corners in whole metres.
    double_area: i64,
}

#[derive(Serialize, JsonSchema)]
struct Lots {
    /// Form in which a deed cites the plat.
    cite: String,
    lots: Vec<Lot>,
    double_area: i64,
}

fn corner(text: &str) -> Option<(i64, i64)> {
    let (x, y) = text.split_once(',')?;
    let metres = |text: &str| text.parse::<i64>().ok().filter(|m| m.abs() <= 1_000_000);
    Some((metres(x)?, metres(y)?))
}

/// Area by the shoelace formula.
fn lot(line: &str) -> Option<Lot> {
    let (name, points) = line.strip_prefix("lot ")?.split_once(':')?;
    let corners: Vec<(i64, i64)> = points.split_whitespace().map(corner).collect::<Option<_>>()?;
    if corners.len() < 3 {
        return None;
    }
    let next = corners.iter().cycle().skip(1);
    let sum: i64 = corners.iter().zip(next).map(|((x, y), (u, v))| x * v - u * y).sum();
    Some(Lot { lot: name.trim().to_owned(), corners: corners.len(), double_area: sum.abs() })
}

fn lots(deed: Deed, _: &step::Context) -> Result<Lots, Error> {
    if deed.sha256.len() != 64 || !deed.sha256.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(Error::invalid_input("sha256 is not 64 lower-case hexadecimal digits"));
    }
    // One failure for all that the archive may answer instead of the certified plat: the message follows from the
    // deed alone.
    let other = || Error::dependency_unavailable(format!("the archive did not return the certified {}", deed.plat));
    let sheet: Sheet = tools::call("Archive.Read", &json!({ "path": deed.plat })).map_err(|_| other())?;
    if sha::sha256(sheet.text.as_bytes()) != deed.sha256 {
        return Err(other());
    }
    let mut lots = Vec::new();
    for (at, line) in sheet.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let found = lot(line).ok_or_else(|| Error::invalid_input(format!("line {} of the plat is no lot", at + 1)))?;
        lots.push(found);
    }
    let double_area = lots.iter().map(|lot| lot.double_area).sum();
    Ok(Lots { cite: format!("{} (rev. {})", deed.plat, sheet.revision), lots, double_area })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Plat.Lots", lots)
            .describe("Computes the lots of a recorded plat that a deed names by its SHA-256.")
            .determinism(Determinism::Pure),
    ],
}
