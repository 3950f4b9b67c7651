//! Mounts of the moss herbarium: one file for each mounted specimen, in the folder of the cabinet.

use std::time::Duration;

use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, log, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const NOTE_BYTES_MAX: usize = 8_000;

#[derive(Deserialize, JsonSchema)]
struct Specimen {
    /// Accession number: `BR-5031`.
    accession: String,
    species: String,
    #[serde(default)]
    note: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Mounted {
    file: String,
    mounted_at: String,
}

/// Content of a file of the cabinet.
#[derive(Serialize, Deserialize)]
struct Mount {
    accession: String,
    species: String,
    note: String,
    mounted_at: String,
}

impl Mount {
    fn of(specimen: &Specimen, mounted_at: &str) -> Self {
        Self {
            accession: specimen.accession.clone(),
            species: specimen.species.clone(),
            note: specimen.note.clone(),
            mounted_at: mounted_at.to_owned(),
        }
    }
    fn text(&self) -> Result<String, Error> {
        serde_json::to_string_pretty(self).map_err(|error| Error::invalid_input(error.to_string()))
    }
}

/// A key has neither `.` nor `=`, so two keys have two files.
fn file(key: &str) -> String {
    format!("/cabinet/{}.json", key.replace(':', ".").replace('/', "="))
}

fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn read(path: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The answer of the call whose file has this text. All of it is in the file, so every try gives the same.
fn mounted(path: &str, text: &str) -> Result<Output<Mounted>, Error> {
    let mount: Mount = serde_json::from_str(text)
        .map_err(|error| Error::schema_validation_failed(format!("{path}: {error}")).applied_unknown())?;
    let change = Change::new("mount", path, "create").version(fingerprint(text)).external_ref(path);
    Ok(Output::new(Mounted { file: path.to_owned(), mounted_at: mount.mounted_at }).change(change))
}

fn mount(specimen: Specimen, context: &tool::Context) -> Result<Output<Mounted>, Error> {
    let (letters, number) = specimen.accession.split_once('-').unwrap_or_default();
    let fits = (1..=4).contains(&letters.len())
        && letters.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=8).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit());
    if !fits {
        return Err(Error::invalid_input(format!("{:?} is no accession number such as BR-5031", specimen.accession)));
    }
    if specimen.species.trim().is_empty() || specimen.note.len() > NOTE_BYTES_MAX {
        return Err(Error::invalid_input(format!("a mount has a species, and at most {NOTE_BYTES_MAX} bytes of note")));
    }
    let key = context.external_key();
    let path = file(key);
    if context.tries_before() > 0 {
        log::info!("{}: try {} of {}", wall::now(), context.tries_before() + 1, context.slot());
    }
    // An earlier try may have got this far. Its time of mounting stays.
    if let Some(text) = read(&path)? {
        return mounted(&path, &text);
    }
    let text = Mount::of(&specimen, &wall::now().to_string()).text()?;
    fs::replace(&path, text.as_bytes(), key)?;
    mounted(&path, &text)
}

fn reconcile(_: Specimen, key: &str) -> Result<Verdict<Output<Mounted>>, Error> {
    let path = file(key);
    Ok(match read(&path)? {
        Some(text) => Verdict::Happened(mounted(&path, &text)?),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(&change.resource_id)? {
        Some(text) => Finding::compare(change.version.as_deref(), &fingerprint(&text)),
        None => Finding::Mismatch("the mount is not in the cabinet".into()),
    })
}

fn unmount(specimen: Specimen, mounted: Mounted, key: &str) -> Result<Output<()>, Error> {
    let path = file(key);
    let written = Mount::of(&specimen, &mounted.mounted_at).text()?;
    match read(&path).map_err(Error::not_applied)? {
        None => return Err(Error::policy_denied("the mount is no longer in the cabinet")),
        Some(text) if text != written => {
            return Err(Error::policy_denied("the curator changed the mount, so it stays"));
        }
        Some(_) => fs::remove(&path)?,
    }
    Ok(Output::new(()).change(Change::new("mount", path, "delete")))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Moss.Mount", mount)
            .describe("Records a mounted specimen in the cabinet.")
            .effects([Effect::InternalWrite])
            .idempotent_by_key(Duration::from_secs(30 * 24 * 3600))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(unmount),
    ],
    exports: [reconcile, verify, compensate],
}
