//! Files cargo manifests for the customs office, and lists the manifests that the office has to read.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MARKER: &str = ".ready";
const VESSEL_MAX: usize = 80;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Manifest {
    vessel: String,
    /// Lines of the manifest, such as `12 t oranges`.
    lines: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Filed {
    file: String,
    lines: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Pending {
    vessels: Vec<String>,
}

/// Name of the files of a call, without their ends. The external key has no dot.
fn name(key: &str) -> String {
    format!("/customs/{}", key.replace([':', '/'], "."))
}

fn filed(manifest: &Manifest, key: &str) -> Output<Filed> {
    let file = format!("{}.txt", name(key));
    Output::new(Filed { file: file.clone(), lines: manifest.lines.len() })
        .change(Change::new("manifest", key, "create").external_ref(file))
}

fn file(manifest: Manifest, context: &tool::Context) -> Result<Output<Filed>, Error> {
    if manifest.vessel.is_empty() || manifest.vessel.len() > VESSEL_MAX {
        return Err(Error::invalid_input(format!("a vessel has a name of 1 to {VESSEL_MAX} bytes")));
    }
    if manifest.lines.is_empty() {
        return Err(Error::invalid_input("the manifest is empty"));
    }
    let key = context.external_key();
    // The office plans its day by the markers. A long manifest takes a while to write.
    fs::replace(&format!("{}{MARKER}", name(key)), manifest.vessel.as_bytes(), key)?;
    fs::replace(&format!("{}.txt", name(key)), manifest.lines.join("\n").as_bytes(), key)?;
    Ok(filed(&manifest, key))
}

fn find(manifest: Manifest, key: &str) -> Result<Verdict<Output<Filed>>, Error> {
    Ok(match fs::exists(&format!("{}.txt", name(key)))? {
        true => Verdict::Happened(filed(&manifest, key)),
        false => Verdict::DidNotHappen,
    })
}

fn pending(_: Nothing, _: &tool::Context) -> Result<Output<Pending>, Error> {
    let mut vessels = Vec::new();
    for entry in fs::list("/customs")? {
        if entry.name.ends_with(MARKER) {
            vessels.push(fs::read_to_string(&format!("/customs/{}", entry.name))?);
        }
    }
    vessels.sort();
    Ok(Output::new(Pending { vessels }))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Manifest.File", file)
            .describe("Files the manifest of a vessel for the customs office.")
            .effects([Effect::InternalWrite])
            .settles_within(Duration::from_secs(1))
            .reconcile(find),
        tool::operator("Manifest.Pending", pending).describe("Lists the vessels with a manifest to read."),
    ],
    exports: [reconcile],
}
