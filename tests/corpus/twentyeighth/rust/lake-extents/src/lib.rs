//! Finds the lakes of a land cover raster: connected cells of water, with their area and extent.

use latchwork_guest::{Error, step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest raster: a tile of the survey has 512 × 512 cells.
const SIDE: usize = 512;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tile {
    /// Rows of the raster from north to south. `~` is water, `.` land, `#` built-up, `?` unknown.
    rows: Vec<String>,
    /// Side of a cell in metres.
    cell_m: u32,
    /// Lakes with fewer cells are ponds and not listed.
    #[serde(default)]
    min_cells: u64,
}

#[derive(Serialize, JsonSchema)]
struct Lake {
    cells: u64,
    area_m2: u64,
    north: usize,
    south: usize,
    west: usize,
    east: usize,
    /// True if the lake touches the border of the tile and may continue beyond it.
    open: bool,
}

#[derive(Serialize, JsonSchema)]
struct Extents {
    lakes: Vec<Lake>,
    ponds: usize,
}

struct Raster {
    cells: Vec<Vec<u8>>,
}

impl Raster {
    fn parse(rows: &[String]) -> Result<Self, Error> {
        let width = rows.first().map_or(0, String::len);
        if width == 0 || width > SIDE || rows.len() > SIDE {
            return Err(Error::invalid_input(format!("a raster has 1 to {SIDE} rows and columns")));
        }
        for (at, row) in rows.iter().enumerate() {
            if row.len() != width || !row.bytes().all(|cell| b"~.#?".contains(&cell)) {
                return Err(Error::invalid_input(format!("row {} has another width or an unknown cell", at + 1)));
            }
        }
        Ok(Self { cells: rows.iter().map(|row| row.clone().into_bytes()).collect() })
    }

    /// Adds the cell to the lake, and all water that is connected to it. Each cell is drained when it is visited, so
    /// it is visited only once.
    fn drain(&mut self, row: usize, column: usize, lake: &mut Lake) {
        if self.cells[row][column] != b'~' {
            return;
        }
        self.cells[row][column] = b' ';
        lake.cells += 1;
        lake.north = lake.north.min(row);
        lake.south = lake.south.max(row);
        lake.west = lake.west.min(column);
        lake.east = lake.east.max(column);
        let (last_row, last_column) = (self.cells.len() - 1, self.cells[row].len() - 1);
        lake.open |= row == 0 || column == 0 || row == last_row || column == last_column;
        if column < last_column {
            self.drain(row, column + 1, lake);
        }
        if row < last_row {
            self.drain(row + 1, column, lake);
        }
        if column > 0 {
            self.drain(row, column - 1, lake);
        }
        if row > 0 {
            self.drain(row - 1, column, lake);
        }
    }
}

fn extents(tile: Tile, _: &step::Context) -> Result<Extents, Error> {
    if tile.cell_m == 0 || tile.cell_m > 1000 {
        return Err(Error::invalid_input("a cell has a side of 1 to 1000 m"));
    }
    let mut raster = Raster::parse(&tile.rows)?;
    let mut found = Extents { lakes: Vec::new(), ponds: 0 };
    for row in 0..raster.cells.len() {
        for column in 0..raster.cells[row].len() {
            if raster.cells[row][column] != b'~' {
                continue;
            }
            let mut lake =
                Lake { cells: 0, area_m2: 0, north: row, south: row, west: column, east: column, open: false };
            raster.drain(row, column, &mut lake);
            lake.area_m2 = lake.cells * u64::from(tile.cell_m) * u64::from(tile.cell_m);
            if lake.cells < tile.min_cells { found.ponds += 1 } else { found.lakes.push(lake) }
        }
    }
    found.lakes.sort_by(|a, b| b.cells.cmp(&a.cells).then(a.north.cmp(&b.north)).then(a.west.cmp(&b.west)));
    Ok(found)
}

latchwork_guest::export_step! {
    version: env!("CARGO_PKG_VERSION"),
    operators: [
        step::operator("Lake.Extents", extents).describe("Finds the lakes of a land cover raster with area and extent."),
    ],
}
