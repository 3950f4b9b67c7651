//! Weekly rosters of the lock keepers, as text files in a folder that the keepers' displays read.

use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LINES_MAX: usize = 500;
/// A roster is a page or two. A file above this size is something else, and stays.
const FILE_BYTES_MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Roster {
    /// ISO week: `2026-W03`.
    week: String,
    /// One line for each shift: `Mon 06-14 Upper Lock  Farah`.
    shifts: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Posted {
    file: String,
    /// Shifts of the roster that was replaced, for the notice to the keepers. None if the week had no roster.
    replaced: Option<Vec<String>>,
}

fn file(week: &str) -> Result<String, Error> {
    let bytes = week.as_bytes();
    let fits = bytes.len() == 8
        && &bytes[4..6] == b"-W"
        && bytes.iter().enumerate().all(|(i, b)| matches!(i, 4 | 5) || b.is_ascii_digit());
    if !fits {
        return Err(Error::invalid_input(format!("{week} is no week such as 2026-W03")));
    }
    Ok(format!("/roster/{week}.txt"))
}

fn text(shifts: &[String]) -> String {
    let mut text = shifts.join("\n");
    text.push('\n');
    text
}

/// Fingerprint of a roster (FNV-1a, 64 bits).
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn read(path: &str) -> Result<Option<String>, Error> {
    match fs::read_up_to(path, FILE_BYTES_MAX) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Error::invalid_input(format!("{path} is no text, so it is no roster"))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn post(roster: Roster, context: &tool::Context) -> Result<Output<Posted>, Error> {
    let path = file(&roster.week)?;
    if roster.shifts.is_empty() || roster.shifts.len() > LINES_MAX {
        return Err(Error::invalid_input(format!("a roster has 1 to {LINES_MAX} shifts")));
    }
    if roster.shifts.iter().any(|shift| shift.trim().is_empty() || shift.chars().any(char::is_control)) {
        return Err(Error::invalid_input("a shift is one line of text"));
    }
    // Everything that is replaced goes into the result, so that it can be put back.
    let replaced = read(&path)?.map(|old| old.lines().map(str::to_owned).collect());
    let text = text(&roster.shifts);
    fs::replace(&path, text.as_bytes(), context.external_key())?;
    let change = Change::new("roster", &roster.week, "update").version(fingerprint(&text)).external_ref(&path);
    Ok(Output::new(Posted { file: path, replaced }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(change.external_ref.as_deref().unwrap_or_default())? {
        Some(found) => Finding::compare(change.version.as_deref(), &fingerprint(&found)),
        None => Finding::Mismatch("the roster was removed".into()),
    })
}

fn take_back(roster: Roster, posted: Posted, key: &str) -> Result<Output<()>, Error> {
    match read(&posted.file).map_err(Error::not_applied)? {
        None => return Err(Error::policy_denied("the roster was removed after it was posted")),
        Some(found) if found != text(&roster.shifts) => {
            return Err(Error::policy_denied("the roster was changed after it was posted"));
        }
        Some(_) => {}
    }
    let operation = match &posted.replaced {
        Some(shifts) => {
            fs::replace(&posted.file, text(shifts).as_bytes(), key)?;
            "update"
        }
        // The week had no roster before.
        None => {
            fs::remove(&posted.file)?;
            "delete"
        }
    };
    Ok(Output::new(()).change(Change::new("roster", &roster.week, operation)))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Roster.Post", post)
            .describe("Posts the roster of a week for the lock keepers.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [verify, compensate],
}
