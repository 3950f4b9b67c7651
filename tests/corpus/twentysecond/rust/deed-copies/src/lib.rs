//! Sends the certified copies of a notarial deed. Each recipient gets one copy, also if the step is run in a second job.

use std::collections::BTreeSet;

use latchwork_guest::{Determinism, Effect, Error, events, step, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deed {
    /// Number in the register, with the year: `214/2026`.
    #[schemars(regex(pattern = r"^[1-9][0-9]{0,5}/(19|20)[0-9]{2}$"))]
    register: String,
    #[schemars(length(min = 1, max = 30))]
    recipients: Vec<Recipient>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recipient {
    #[schemars(length(min = 1, max = 120))]
    name: String,
    #[schemars(length(min = 1, max = 300))]
    address: String,
    /// An enforceable copy is sealed and goes by registered mail.
    #[serde(default)]
    enforceable: bool,
}

#[derive(Deserialize)]
struct Booked {
    consignment: String,
}

#[derive(Serialize, JsonSchema)]
struct Sent {
    register: String,
    copies: Vec<Copy>,
}

#[derive(Serialize, JsonSchema)]
struct Copy {
    name: String,
    consignment: String,
}

/// Name without case, spaces and punctuation, because the clerks write `O'Neil` and `O Neil` for one person.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn send(deed: Deed, _: &step::Context) -> Result<Sent, Error> {
    let mut names = BTreeSet::new();
    for recipient in &deed.recipients {
        let name = recipient.name.trim();
        if name.is_empty() || recipient.address.trim().is_empty() {
            return Err(Error::invalid_input("a recipient has no name or no address"));
        }
        // One copy for each person: the second one would be taken for the first.
        if !names.insert(name.to_lowercase()) {
            return Err(Error::invalid_input(format!("{name} is listed twice")));
        }
    }

    let mut copies = Vec::with_capacity(deed.recipients.len());
    for recipient in &deed.recipients {
        let name = recipient.name.trim();
        let service = if recipient.enforceable { "registered" } else { "letter" };
        let args = json!({
            "reference": format!("deed {}", deed.register),
            "name": name,
            "address": recipient.address.trim(),
            "service": service,
        });
        // The kind of copy is part of the key: a later enforceable copy is another consignment.
        let key = json!(["deed-copy", deed.register, service, plain(name)]).to_string();
        let booked: Booked = tools::Call::new("Courier.Book", &args)
            .action_key(key)
            .send()
            .map_err(|error| error.context(format!("copy for {name}")))?;
        copies.push(Copy { name: name.to_owned(), consignment: booked.consignment });
    }
    events::emit("deed-copies-sent", &json!({ "register": deed.register, "copies": copies.len() }))?;
    Ok(Sent { register: deed.register, copies })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Deed.SendCopies", send)
            .describe("Sends a certified copy of a deed to each recipient.")
            .determinism(Determinism::External)
            .effects([Effect::ExternalSend]),
    ],
}
