use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Receipt {
    shop: String,
    lines: Vec<String>,
    total_cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Stored {
    file: String,
}

/// Path of the file of a call.
fn path(key: &str) -> String {
    let name: String = key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    format!("/receipts/{name}.txt")
}

fn stored(key: &str) -> Output<Stored> {
    let file = path(key);
    Output::new(Stored { file: file.clone() }).change(Change::new("receipt", key, "create").external_ref(file))
}

fn store(receipt: Receipt, context: &tool::Context) -> Result<Output<Stored>, Error> {
    if receipt.lines.is_empty() {
        return Err(Error::invalid_input("the receipt has no lines"));
    }
    let key = context.external_key();
    let mut text = format!("{}\n", receipt.shop);
    for line in &receipt.lines {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str(&format!("total {}.{:02}\n", receipt.total_cents / 100, receipt.total_cents % 100));
    fs::create_new(&path(key), text.as_bytes())?;
    Ok(stored(key))
}

/// The name of the file is the key, so an existing file belongs to this call.
fn find(_: Receipt, key: &str) -> Result<Verdict<Output<Stored>>, Error> {
    Ok(if fs::exists(&path(key))? { Verdict::Happened(stored(key)) } else { Verdict::DidNotHappen })
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Receipt.Store", store)
            .describe("Stores a receipt as a text file.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
