//! Crops the lines of a label to the width of the printer.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Label {
    lines: Vec<String>,
    width: u8,
}

#[derive(Serialize, JsonSchema)]
struct Cropped {
    lines: Vec<String>,
    cropped: usize,
}

fn crop_line(line: &str, width: usize) -> String {
    if line.len() <= width {
        return line.to_owned();
    }
    let end = line[..width].rfind(' ').unwrap_or(width);
    format!("{}.", line[..end].trim_end())
}

fn crop(label: Label, _: &step::Context) -> Result<Cropped, Error> {
    if label.width < 4 || label.lines.is_empty() {
        return Err(Error::invalid_input("the label has no lines or is too narrow"));
    }
    let width = usize::from(label.width) - 1;
    let lines: Vec<String> = label.lines.iter().map(|line| crop_line(line.trim(), width)).collect();
    let cropped = lines.iter().zip(&label.lines).filter(|(new, old)| new.as_str() != old.trim()).count();
    Ok(Cropped { lines, cropped })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Label.Crop", crop).describe("Crops the lines of a label."),
    ],
}
