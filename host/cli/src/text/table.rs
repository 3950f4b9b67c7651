//! Layout of tables with aligned columns. If the terminal is narrow, cells wrap inside their column.

use crate::text::tone::Span;
use crate::text::wrap;
use crate::text::wrap::Cell;

/// Number of blanks between columns.
const GAP: usize = 2;
/// Minimum width of a column.
const COLUMN_WIDTH_MIN: usize = 8;
/// Indentation of the last column when it is placed below the other columns.
const STACKED_INDENT: usize = 4;

/// Rows of cells. The first row is the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTable {
    pub(super) indent: usize,
    pub(super) rows: Vec<Vec<Vec<Span>>>,
}

impl TextTable {
    /// Returns every line of the table.
    ///
    /// Words are kept whole if possible. If the table is too wide for whole words, its last column is placed below the
    /// other columns.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<Vec<Cell>> {
        let rows: Vec<Vec<Vec<Cell>>> =
            self.rows.iter().map(|row| row.iter().map(|spans| wrap::cells(spans)).collect()).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let widest = |of: fn(&[Cell]) -> usize| {
            (0..columns).map(|at| rows.iter().map(|row| of(&row[at])).max().unwrap_or(0)).collect::<Vec<_>>()
        };
        let (mut widths, floors) = (widest(wrap::columns), widest(wrap::longest_word));
        let Some(width) = width else { return rows.iter().flat_map(|row| self.row(row, &widths)).collect() };
        if narrow(&mut widths, &floors, self.room(width, columns)) || columns < 2 {
            return rows.iter().flat_map(|row| self.row(row, &widths)).collect();
        }
        let mut widths = widest(wrap::columns);
        widths.pop();
        narrow(&mut widths, &floors, self.room(width, columns - 1));
        let under = self.indent + STACKED_INDENT;
        let stacked = |row: &Vec<Vec<Cell>>| {
            let mut lines = self.row(&row[..columns - 1], &widths);
            let last = row.last().filter(|cell| !cell.is_empty());
            let room = width.saturating_sub(under);
            let last = last.map(|cell| wrap::words(cell, room, room)).unwrap_or_default();
            lines.extend(last.into_iter().map(|line| wrap::blank(under).chain(line).collect()));
            lines
        };
        rows.iter().flat_map(stacked).collect()
    }

    /// Returns the width that remains for the cells of a line with `columns` cells, after indentation and gaps.
    fn room(&self, width: usize, columns: usize) -> usize {
        width.saturating_sub(self.indent + GAP * columns.saturating_sub(1))
    }

    fn row(&self, row: &[Vec<Cell>], widths: &[usize]) -> Vec<Vec<Cell>> {
        let cells = row.iter().zip(widths).map(|(cell, width)| wrap::words(cell, *width, *width));
        let cells: Vec<Vec<Vec<Cell>>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let mut line: Vec<Cell> = wrap::blank(self.indent).collect();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let part = cell.get(at).map(Vec::as_slice).unwrap_or_default();
                line.extend_from_slice(part);
                let gap = if column + 1 < cells.len() { GAP } else { 0 };
                line.extend(wrap::blank(width.saturating_sub(wrap::columns(part)) + gap));
            }
            line
        };
        (0..height).map(line).collect()
    }
}

/// Narrows the columns until they fit. Returns true if every word stays whole.
///
/// Narrows the last column first, because it holds free text. Ids and states in the other columns then stay in one
/// piece. Narrows the widest columns afterwards.
fn narrow(widths: &mut [usize], floors: &[usize], room: usize) -> bool {
    let excess = widths.iter().sum::<usize>().saturating_sub(room);
    let count = widths.len();
    if let (Some(last), Some(floor)) = (widths.last_mut(), floors.get(count.saturating_sub(1))) {
        *last -= excess.min(last.saturating_sub(COLUMN_WIDTH_MIN.max(*floor)));
    }
    let is_whole = shrink(widths, |at| COLUMN_WIDTH_MIN.max(floors[at]), room);
    if !is_whole {
        shrink(widths, |_| COLUMN_WIDTH_MIN, room);
    }
    is_whole
}

/// Narrows the columns by one character at a time until they fit. Each round narrows the widest of those columns that
/// are wider than their minimum. Returns false if all columns have their minimum width and still do not fit.
fn shrink(widths: &mut [usize], floor: impl Fn(usize) -> usize, room: usize) -> bool {
    while widths.iter().sum::<usize>() > room {
        let wide = widths.iter_mut().enumerate().filter(|(at, width)| **width > floor(*at));
        let Some((_, widest)) = wide.max_by_key(|(_, width)| **width) else { return false };
        *widest -= 1;
    }
    true
}
