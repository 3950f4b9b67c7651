use latchwork_guest::tool::{self, Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, fs, log};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Letter {
    to: String,
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Spooled {
    file: String,
}

/// A key has neither dots nor equals signs, so that two keys are two names.
fn name(key: &str) -> String {
    key.replace(':', ".").replace('/', "=")
}

fn file(key: &str) -> String {
    format!("/letters/{}.txt", name(key))
}

fn content(letter: &Letter) -> String {
    format!("To: {}\n\n{}\n", letter.to, letter.text)
}

fn spooled(key: &str) -> Output<Spooled> {
    Output::new(Spooled { file: file(key) }).change(Change::new("letter", key, "create").external_ref(file(key)))
}

fn spool(letter: Letter, context: &tool::Context) -> Result<Output<Spooled>, Error> {
    if letter.to.is_empty() || letter.to.contains('\n') {
        return Err(Error::invalid_input("a letter has one recipient, on one line"));
    }
    let key = context.external_key();
    log::debug!("attempt {}, {} tries before", context.attempt(), context.tries_before());
    fs::replace(&file(key), content(&letter).as_bytes(), &name(key))?;
    Ok(spooled(key))
}

fn find(letter: Letter, key: &str) -> Result<Verdict<Output<Spooled>>, Error> {
    if !fs::exists(&file(key))? {
        return Ok(Verdict::DidNotHappen);
    }
    // The letter may have been edited. It was spooled nevertheless.
    if fs::read(&file(key))? != content(&letter).as_bytes() {
        log::info!("{} was edited", file(key));
    }
    Ok(Verdict::Happened(spooled(key)))
}

fn check(change: &Change) -> Result<Finding, Error> {
    let found = fs::exists(change.external_ref.as_deref().unwrap_or_default())?;
    Ok(if found { Finding::Confirmed } else { Finding::Mismatch("the letter is missing".into()) })
}

fn take_back(letter: Letter, spooled: Spooled, key: &str) -> Result<Output<()>, Error> {
    if !fs::exists(&spooled.file)? || fs::read(&spooled.file)? != content(&letter).as_bytes() {
        return Err(Error::policy_denied("the letter was edited or taken out of the spool"));
    }
    fs::remove(&spooled.file)?;
    Ok(Output::new(()).change(Change::new("letter", key, "delete")))
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Letter.Spool", spool)
            .describe("Puts a letter into the spool folder.")
            .effects([Effect::InternalWrite])
            .reconcile(find)
            .verify(check)
            .compensate(take_back),
    ],
    exports: [reconcile, verify, compensate],
}
