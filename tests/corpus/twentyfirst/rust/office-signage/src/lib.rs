use latchwork_guest::tool::{self, Change, Finding, Output};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest text of a sign in bytes.
const SIGN_BYTES: usize = 400;
/// Largest earlier sign that is kept, in bytes.
const EARLIER_BYTES: usize = 4096;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sign {
    /// Number of the door, such as `2-14b`.
    door: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Shown {
    door: String,
    /// Text that the sign had before, if the door had a sign.
    earlier: Option<String>,
}

/// Returns the file of a door. The display of the door shows this file.
fn file(door: &str) -> Result<String, Error> {
    let is_number = !door.is_empty()
        && door.len() <= 16
        && door.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    match is_number {
        true => Ok(format!("/signs/{door}.txt")),
        false => Err(Error::invalid_input(format!("{door:?} is no number of a door"))),
    }
}

fn show(sign: Sign, context: &tool::Context) -> Result<Output<Shown>, Error> {
    let path = file(&sign.door)?;
    if sign.text.trim().is_empty() || sign.text.len() > SIGN_BYTES {
        return Err(Error::invalid_input(format!("a sign has 1 to {SIGN_BYTES} bytes of text")));
    }
    let earlier = fs::read_up_to(&path, EARLIER_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    fs::replace(&path, sign.text.as_bytes(), context.external_key())?;
    let change = changed(&path, if earlier.is_some() { "update" } else { "create" }).version(sign.text);
    Ok(Output::new(Shown { door: sign.door, earlier }).change(change))
}

fn verify(change: &Change) -> Result<Finding, Error> {
    match fs::read(&change.resource_id) {
        Ok(found) => Ok(Finding::compare(change.version.as_deref(), &String::from_utf8_lossy(&found))),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(Finding::Mismatch("the door has no sign".into())),
        Err(error) => Err(error.into()),
    }
}

/// Shows the earlier text again, unless the sign was changed since.
fn take_back(sign: Sign, shown: Shown, _: &str) -> Result<Output<()>, Error> {
    let path = file(&sign.door)?;
    if fs::read(&path)? != sign.text.as_bytes() {
        return Err(Error::policy_denied(format!("the sign of door {} was changed since", sign.door)));
    }
    let operation = match &shown.earlier {
        Some(text) => {
            // The key of this call names the temporary file.
            fs::replace(&path, text.as_bytes(), tool::Context::default().external_key())?;
            "update"
        }
        None => {
            fs::remove(&path)?;
            "delete"
        }
    };
    Ok(Output::new(()).change(changed(&path, operation)))
}

fn changed(path: &str, operation: &str) -> Change {
    Change::new("door sign", path, operation).external_ref(path)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Sign.Show", show)
            .describe("Shows a text on the sign of an office door.")
            .effects([Effect::InternalWrite])
            .verify(verify)
            .compensate(take_back),
    ],
    exports: [verify, compensate],
}
