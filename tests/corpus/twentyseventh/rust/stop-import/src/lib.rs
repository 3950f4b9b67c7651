//! Reads the stop lists that municipalities send for the regional timetable: text with a header and `;` between cells.
//! The columns differ from place to place and are kept as they are.

use std::collections::BTreeMap;

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const LINES_MAX: usize = 5_000;

#[derive(Deserialize, JsonSchema)]
struct Sheet {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Import {
    columns: Vec<String>,
    stops: Vec<Stop>,
}

/// A stop of the list: the cells under the names of their columns, with the place of the stop in the file.
#[derive(Serialize, JsonSchema)]
struct Stop {
    /// Number of the line in the file, from 1, for questions to the municipality.
    line: usize,
    /// Columns without a value in this line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blank: Vec<String>,
    #[serde(flatten)]
    cells: BTreeMap<String, String>,
}

/// Splits a line at `;`. A cell in quotation marks may contain `;`, and `""` for a mark.
fn cells(line: &str) -> Result<Vec<String>, &'static str> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ';' if !quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    if quoted {
        return Err("a quotation mark is not closed");
    }
    cells.push(cell.trim().to_owned());
    Ok(cells)
}

/// Names of the columns: lower case, `_` for spaces, each one once.
fn header(line: &str) -> Result<Vec<String>, Error> {
    let names = cells(line).map_err(|problem| Error::invalid_input(format!("header: {problem}")))?;
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase().replace(' ', "_")).collect();
    for (at, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::invalid_input(format!("column {} has no name", at + 1)));
        }
        if names[..at].contains(name) {
            return Err(Error::invalid_input(format!("two columns are named {name}")));
        }
    }
    Ok(names)
}

fn import(sheet: Sheet, _: &step::Context) -> Result<Import, Error> {
    let text = sheet.text.strip_prefix('\u{feff}').unwrap_or(&sheet.text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, first)) = lines.next() else {
        return Err(Error::invalid_input("the file is empty"));
    };
    let columns = header(first)?;
    let mut stops = Vec::new();
    for (index, text) in lines {
        let line = index + 1;
        if stops.len() == LINES_MAX {
            return Err(Error::invalid_input(format!("the file has more than {LINES_MAX} stops")));
        }
        let cells = cells(text).map_err(|problem| Error::invalid_input(format!("line {line}: {problem}")))?;
        if cells.len() != columns.len() {
            let (found, wanted) = (cells.len(), columns.len());
            return Err(Error::invalid_input(format!("line {line} has {found} cells for {wanted} columns")));
        }
        let (blank, filled): (Vec<_>, Vec<_>) =
            columns.iter().cloned().zip(cells).partition(|(_, cell)| cell.is_empty());
        stops.push(Stop {
            line,
            blank: blank.into_iter().map(|(name, _)| name).collect(),
            cells: filled.into_iter().collect(),
        });
    }
    Ok(Import { columns, stops })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Stops.Import", import).describe("Reads a municipality's list of stops.")],
}
