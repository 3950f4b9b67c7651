use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Visit {
    cairn: String,
    hiker: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Entered {
    file: String,
    at: String,
}

/// A key has neither dots nor plus signs, so two keys never share a file.
fn file(key: &str) -> String {
    format!("/register/{}.txt", key.replace(':', ".").replace('/', "+"))
}

fn page(visit: &Visit, at: &str) -> String {
    format!("{at}\n{}\n{}\n", visit.cairn, visit.hiker)
}

fn entered(visit: &Visit, key: &str, at: &str) -> Output<Entered> {
    let change = Change::new("visit", key, "create").version(page(visit, at)).external_ref(file(key));
    Output::new(Entered { file: file(key), at: at.to_owned() }).change(change)
}

fn enter(visit: Visit, context: &tool::Context) -> Result<Output<Entered>, Error> {
    let is_line = |text: &str| !text.trim().is_empty() && !text.contains(['\n', '\r']) && text.len() <= 200;
    if !is_line(&visit.cairn) || !is_line(&visit.hiker) {
        return Err(Error::invalid_input("cairn and hiker are one line each, of at most 200 bytes"));
    }
    let key = context.external_key();
    let at = wall::now().to_string();
    fs::replace(&file(key), page(&visit, &at).as_bytes(), key)?;
    Ok(entered(&visit, key, &at))
}

/// Returns the content of a file, or nothing if there is no such file.
fn read(path: &str) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == fs::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The time of the visit is in the file. A page that is not the one of this call answers nothing.
fn reconcile(visit: Visit, key: &str) -> Result<Verdict<Output<Entered>>, Error> {
    let Some(found) = read(&file(key))? else { return Ok(Verdict::DidNotHappen) };
    let at = found.lines().next().unwrap_or_default();
    Ok(if found == page(&visit, at) { Verdict::Happened(entered(&visit, key, at)) } else { Verdict::Unknown })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    Ok(match read(change.external_ref.as_deref().unwrap_or_default())? {
        Some(found) => Finding::compare(change.version.as_deref(), &found),
        None => Finding::Mismatch("the page is missing".into()),
    })
}

fn tear_out(visit: Visit, entered: Entered, key: &str) -> Result<Output<()>, Error> {
    match read(&file(key))? {
        Some(found) if found == page(&visit, &entered.at) => {}
        Some(_) => return Err(Error::policy_denied("the page was changed after it was written")),
        None => return Err(Error::policy_denied("the page was removed already")),
    }
    fs::remove(&file(key))?;
    Ok(Output::new(()).change(Change::new("visit", key, "delete").external_ref(file(key))))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("CairnRegister.Enter", enter)
            .describe("Enters a visit into the register of a cairn.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile)
            .verify(verify)
            .compensate(tear_out),
    ],
    exports: [reconcile, verify, compensate],
}
