use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Invoice {
    number: String,
    cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Spooled {
    file: String,
}

/// A file name may have neither colons nor slashes.
fn file(key: &str) -> String {
    format!("/spool/{}.inv", key.replace([':', '/'], "-"))
}

fn spooled(key: &str) -> Output<Spooled> {
    Output::new(Spooled { file: file(key) }).change(Change::new("invoice", file(key), "create"))
}

fn spool(invoice: Invoice, context: &tool::Context) -> Result<Output<Spooled>, Error> {
    if invoice.number.trim().is_empty() {
        return Err(Error::invalid_input("the invoice has no number"));
    }
    let key = context.external_key();
    let text = format!("{}\n{}.{:02}\n", invoice.number, invoice.cents / 100, invoice.cents % 100);
    fs::replace(&file(key), text.as_bytes(), &key.replace([':', '/'], "-"))?;
    Ok(spooled(key))
}

fn find(_: Invoice, key: &str) -> Result<Verdict<Output<Spooled>>, Error> {
    Ok(if fs::exists(&file(key))? { Verdict::Happened(spooled(key)) } else { Verdict::DidNotHappen })
}

latchwork_guest::export_tool! {
    version: "0.1.0",
    operators: [
        tool::operator("Invoice.Spool", spool)
            .describe("Puts an invoice into the spool folder of the printer.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
