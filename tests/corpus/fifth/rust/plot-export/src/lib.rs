//! Exports a plot as a file. The name of the file is that of the call, so that the file of a call can be found again.

use latchwork_guest::tool::{self, Change, Output, Verdict};
use latchwork_guest::{Effect, Error, fs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Plot {
    title: String,
    points: Vec<(i32, i32)>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Exported {
    file: String,
}

fn file(key: &str) -> String {
    format!("/plots/{}.svg", key.replace([':', '/'], "-"))
}

fn drawing(plot: &Plot) -> String {
    let title = plot.title.replace('&', "&amp;").replace('<', "&lt;");
    let mut text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">\n<title>{title}</title>\n<polyline points=\"");
    for (x, y) in &plot.points {
        text.push_str(&format!("{x},{y} "));
    }
    text.push_str("\"/>\n</svg>\n");
    text
}

fn export(plot: Plot, context: &tool::Context) -> Result<Output<Exported>, Error> {
    if plot.points.len() < 2 {
        return Err(Error::invalid_input("a plot has at least two points"));
    }
    let file = file(context.external_key());
    fs::create_new(&file, drawing(&plot).as_bytes())?;
    Ok(exported(file))
}

/// Called after a crash: finds out whether the file was written.
fn find(_: Plot, key: &str) -> Result<Verdict<Output<Exported>>, Error> {
    let file = file(key);
    Ok(if fs::exists(&file)? { Verdict::Happened(exported(file)) } else { Verdict::DidNotHappen })
}

fn exported(file: String) -> Output<Exported> {
    let change = Change::new("file", &file, "create").external_ref(&file);
    Output::new(Exported { file }).change(change)
}

latchwork_guest::export_tool! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        tool::operator("Plot.Export", export)
            .describe("Exports a plot as a file.")
            .effects([Effect::InternalWrite])
            .reconcile(find),
    ],
    exports: [reconcile],
}
