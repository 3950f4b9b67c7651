//! Keeps the cases of a dental laboratory in the map: which tooth gets a crown, of which material, and in which shade.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, kv};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Registration {
    #[schemars(length(min = 1, max = 80))]
    practice: String,
    /// Tooth in the notation of the FDI: quadrant and place.
    #[schemars(regex(pattern = "^[1-4][1-8]$"))]
    tooth: String,
    material: Material,
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Material {
    Zirconia,
    Ceramic,
    Gold,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shading {
    /// Id of the case, from its registration.
    #[schemars(regex(pattern = "^[A-Za-z0-9_:/~-]{1,128}$"))]
    id: String,
    /// Shade in the classical guide, such as `A2`.
    #[schemars(regex(pattern = "^(A[1-4]|B[1-4]|C[1-4]|D[2-4])$"))]
    shade: String,
}

#[derive(Serialize, JsonSchema)]
struct Kept {
    id: String,
}

/// A case as it is in the map.
#[derive(Serialize, Deserialize)]
struct Case {
    practice: String,
    tooth: String,
    material: Material,
    shade: Option<String>,
}

/// Fingerprint of an entry: FNV-1a, 16 hexadecimal digits.
fn fingerprint(entry: &[u8]) -> String {
    let hash = entry
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// Writes an entry of the map. Returns its fingerprint.
fn keep(id: &str, case: &Case) -> Result<String, Error> {
    let entry = serde_json::to_vec(case).map_err(|error| Error::invalid_input(error.to_string()))?;
    kv::set(id, &entry)?;
    Ok(fingerprint(&entry))
}

fn register(new: Registration, context: &tool::Context) -> Result<Output<Kept>, Error> {
    let id = context.external_key();
    let case = Case { practice: new.practice, tooth: new.tooth, material: new.material, shade: None };
    let version = keep(id, &case)?;
    Ok(Output::new(Kept { id: id.to_owned() }).change(Change::new("case", id, "create").version(version)))
}

/// The practice often names the shade some days after the registration.
fn shade(shading: Shading, _: &tool::Context) -> Result<Output<Kept>, Error> {
    let Shading { id, shade } = shading;
    let entry = kv::get(&id).map_err(Error::not_applied)?;
    let entry = entry.ok_or_else(|| Error::invalid_input(format!("there is no case {id}")))?;
    let mut case: Case = serde_json::from_slice(&entry)
        .map_err(|error| Error::schema_validation_failed(format!("case {id}: {error}")).not_applied())?;
    if matches!(case.material, Material::Gold) {
        return Err(Error::policy_denied("a crown of gold has no shade"));
    }
    case.shade = Some(shade.clone());
    keep(&id, &case)?;
    let change = Change::new("shade", id.as_str(), "update").version(shade.as_str());
    Ok(Output::new(Kept { id }).change(change))
}

fn verify_case(change: &Change) -> Result<Finding, Error> {
    Ok(match kv::get(&change.resource_id)? {
        Some(entry) => Finding::compare(change.version.as_deref(), &fingerprint(&entry)),
        None => Finding::Mismatch("the case is not in the map".into()),
    })
}

fn verify_shade(change: &Change) -> Result<Finding, Error> {
    let Some(entry) = kv::get(&change.resource_id)? else {
        return Ok(Finding::Mismatch("the case is not in the map".into()));
    };
    let case: Case =
        serde_json::from_slice(&entry).map_err(|error| Error::schema_validation_failed(error.to_string()))?;
    Ok(Finding::compare(change.version.as_deref(), case.shade.as_deref().unwrap_or("no shade")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Crown.Register", register)
            .describe("Registers a crown for a tooth.")
            .effects([Effect::InternalWrite])
            .verify(verify_case),
        tool::operator("Crown.Shade", shade)
            .describe("Notes the shade of a registered crown.")
            .effects([Effect::InternalWrite])
            .verify(verify_shade),
    ],
    exports: [verify],
}
