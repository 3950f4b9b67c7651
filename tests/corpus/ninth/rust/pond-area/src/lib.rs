//! Counts the cells of a pond on a survey map: `~` is water, every other character is land.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Survey {
    /// Rows of the map, at most 400 of 400 characters.
    map: Vec<String>,
    row: usize,
    column: usize,
    /// Area of one cell in square metres.
    cell_m2: u32,
}

#[derive(Serialize, JsonSchema)]
struct Pond {
    cells: u32,
    area_m2: u64,
}

/// Marks the water that is connected with this cell, and returns its number of cells.
fn flood(map: &mut [Vec<u8>], row: usize, column: usize) -> u32 {
    match map.get_mut(row).and_then(|cells| cells.get_mut(column)) {
        Some(cell) if *cell == b'~' => *cell = b'.',
        _ => return 0,
    }
    let mut cells = 1 + flood(map, row + 1, column) + flood(map, row, column + 1);
    if row > 0 {
        cells += flood(map, row - 1, column);
    }
    if column > 0 {
        cells += flood(map, row, column - 1);
    }
    cells
}

fn measure(survey: Survey, _: &step::Context) -> Result<Pond, Error> {
    if survey.map.len() > 400 || survey.map.iter().any(|row| row.len() > 400) {
        return Err(Error::invalid_input("a map has at most 400 rows of 400 characters"));
    }
    let mut map: Vec<Vec<u8>> = survey.map.into_iter().map(String::into_bytes).collect();
    let cells = flood(&mut map, survey.row, survey.column);
    if cells == 0 {
        return Err(Error::invalid_input("there is no water at this place"));
    }
    Ok(Pond { cells, area_m2: u64::from(cells) * u64::from(survey.cell_m2) })
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [step::operator("Pond.Measure", measure).describe("Returns the area of a pond on a survey map.")],
}
