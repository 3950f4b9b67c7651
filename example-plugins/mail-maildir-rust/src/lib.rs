//! `Mail.Send`: delivers a message into a Maildir.
//!
//! File name and Message-ID derive from the external key. A repeated call finds the message of the first
//! execution and changes nothing.

mod address;
mod maildir;
mod message;

use std::time::Duration;

use latchwork_guest::tool::{Change, Finding, Output, Verdict};
use latchwork_guest::{Effect, Error, config, log, tool, wall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use address::Address;
use message::Message;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Sender: `Ada <ada@example.org>`. The default is `from` of the plugin's config.
    #[serde(default)]
    from: Option<String>,
    /// One or several recipients.
    to: To,
    /// Subject, a single line.
    subject: String,
    /// Body in plain text.
    body: String,
}

/// One recipient or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum To {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Sent {
    /// Message-ID of the message.
    message_id: String,
    /// Path of the message file below the Maildir.
    path: String,
}

fn compose(args: &Args, key: &str) -> Result<Message, Error> {
    let from = match &args.from {
        Some(from) => from.clone(),
        None => config::require("from")?,
    };
    let to: Vec<&str> = match &args.to {
        To::One(one) => vec![one],
        To::Many(many) => many.iter().map(String::as_str).collect(),
    };
    if to.is_empty() {
        return Err(Error::invalid_input("to: no recipient"));
    }
    Ok(Message {
        from: Address::parse(&from).map_err(|why| Error::invalid_input(format!("from: {why}")))?,
        to: to
            .into_iter()
            .map(|one| Address::parse(one).map_err(|why| Error::invalid_input(format!("to: {why}"))))
            .collect::<Result<_, _>>()?,
        subject: message::subject(&args.subject).map_err(|why| Error::invalid_input(format!("subject: {why}")))?,
        body: args.body.clone(),
        message_id: message::id(key),
    })
}

fn send(args: Args, context: &tool::Context) -> Result<Output<Sent>, Error> {
    let key = context.external_key();
    let message = compose(&args, key)?;
    let maildir = maildir::configured()?;
    if let Some(path) = maildir.find(key)? {
        log::info!("{} was already delivered: {path}", message.message_id);
        return Ok(sent(message.message_id, path));
    }
    let path = maildir.deliver(key, &message.to_bytes(wall::now()))?;
    Ok(sent(message.message_id, path))
}

fn reconcile(_: Args, key: &str) -> Result<Verdict<Output<Sent>>, Error> {
    Ok(match maildir::configured()?.find(key)? {
        Some(path) => Verdict::Happened(sent(message::id(key), path)),
        None => Verdict::DidNotHappen,
    })
}

fn verify(change: &Change) -> Result<Finding, Error> {
    let Some(name) = change.external_ref.as_deref() else {
        return Ok(Finding::Mismatch("the recorded change names no file".into()));
    };
    Ok(match maildir::configured()?.holds(name)? {
        true => Finding::Confirmed,
        false => Finding::Mismatch(format!("no message {} in the maildir", change.resource_id)),
    })
}

fn compensate(_: Args, sent: Sent, key: &str) -> Result<Output<Sent>, Error> {
    maildir::configured()?.withdraw(key)?;
    let change = Change::new("message", &sent.message_id, "delete").external_ref(&sent.path);
    log::info!("{} withdrawn", sent.message_id);
    Ok(Output::new(sent).change(change))
}

fn sent(message_id: String, path: String) -> Output<Sent> {
    let receipt = serde_json::json!({ "message_id": message_id, "path": path });
    let change = Change::new("message", &message_id, "create").external_ref(&path);
    Output::new(Sent { message_id, path }).receipt(receipt).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Mail.Send", send)
            .describe("Delivers a mail into a Maildir, once for each external key.")
            .effects([Effect::ExternalSend])
            .idempotent_by_key(Duration::from_secs(365 * 86_400))
            .reconcile(reconcile)
            .verify(verify)
            .compensate(compensate),
    ],
    exports: [reconcile, verify, compensate],
}

#[cfg(test)]
mod tests;
