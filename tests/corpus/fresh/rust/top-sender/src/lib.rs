use std::collections::HashMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Mailbox {
    messages: Vec<Message>,
}

#[derive(Deserialize, JsonSchema)]
struct Message {
    from: String,
    bytes: u32,
}

#[derive(Serialize, JsonSchema)]
struct Top {
    from: String,
    messages: u32,
    bytes: u64,
}

#[derive(Default)]
struct Sums {
    messages: u32,
    bytes: u64,
}

fn top(mailbox: Mailbox, _: &step::Context) -> Result<Top, Error> {
    let mut senders: HashMap<&str, Sums> = HashMap::new();
    for message in &mailbox.messages {
        let sums = senders.entry(message.from.as_str()).or_default();
        sums.messages += 1;
        sums.bytes += u64::from(message.bytes);
    }
    let busiest = senders.iter().max_by_key(|(_, sums)| sums.messages);
    let Some((from, sums)) = busiest else { return Err(Error::invalid_input("the mailbox is empty")) };
    Ok(Top { from: (*from).to_owned(), messages: sums.messages, bytes: sums.bytes })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Mailbox.TopSender", top).describe("Finds the sender of the most messages."),
    ],
}
