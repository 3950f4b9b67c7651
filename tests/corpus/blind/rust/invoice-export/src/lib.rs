use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Invoice {
    number: String,
    lines: Vec<Line>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    item: String,
    cents: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Exported {
    file: String,
    total: u64,
}

fn path(key: &str) -> String {
    format!("/exports/{}.csv", key.replace([':', '/'], "-"))
}

fn export(invoice: Invoice, context: &tool::Context) -> Result<Output<Exported>, Error> {
    if invoice.lines.is_empty() {
        return Err(Error::invalid_input(format!("invoice {} has no lines", invoice.number)));
    }
    let mut text = format!("invoice;{}\n", invoice.number.replace([';', '\n'], " "));
    for line in &invoice.lines {
        text += &format!("{};{}.{:02}\n", line.item.replace([';', '\n'], " "), line.cents / 100, line.cents % 100);
    }
    fs::create_new(&path(context.external_key()), text.as_bytes())?;
    Ok(exported(&invoice, context.external_key()))
}

fn reconcile(invoice: Invoice, key: &str) -> Result<Verdict<Output<Exported>>, Error> {
    Ok(if fs::exists(&path(key))? { Verdict::Happened(exported(&invoice, key)) } else { Verdict::DidNotHappen })
}

fn exported(invoice: &Invoice, key: &str) -> Output<Exported> {
    let total = invoice.lines.iter().map(|line| u64::from(line.cents)).sum();
    Output::new(Exported { file: path(key), total }).change(Change::new("export", path(key), "create"))
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("InvoiceExport.Write", export)
            .describe("Exports an invoice to a file for the accountant.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
