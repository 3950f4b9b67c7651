use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct Exported {
    path: String,
    rows: usize,
}

fn path(key: &str) -> String {
    format!("/exports/{}.csv", key.replace([':', '/'], "-"))
}

fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    format!("{}\r\n", quoted.join(","))
}

fn export(table: Table, context: &tool::Context) -> Result<Output<Exported>, Error> {
    if table.rows.iter().any(|row| row.len() != table.columns.len()) {
        return Err(Error::invalid_input("a row has another number of cells than there are columns"));
    }
    let content: String = std::iter::once(&table.columns).chain(&table.rows).map(|row| line(row)).collect();
    let key = context.external_key();
    match fs::create_new(&path(key), content.as_bytes()) {
        // An earlier try of this call has written the file.
        Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    Ok(exported(&table, key))
}

fn reconcile(table: Table, key: &str) -> Result<Verdict<Output<Exported>>, Error> {
    Ok(if fs::exists(&path(key))? { Verdict::Happened(exported(&table, key)) } else { Verdict::DidNotHappen })
}

fn exported(table: &Table, key: &str) -> Output<Exported> {
    let path = path(key);
    let change = Change::new("file", key, "create").external_ref(&path);
    Output::new(Exported { path, rows: table.rows.len() }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Table.Export", export)
            .describe("Writes a table as a CSV file.")
            .effects([Effect::InternalWrite])
            .reconcile(reconcile),
    ],
    exports: [reconcile],
}
