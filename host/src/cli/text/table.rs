//! Tables: columns are aligned, and cells wrap inside their column where the terminal is narrow.

use super::wrap::{self, Cell};
use super::{Block, Span, Text};

/// Blanks between columns.
const GAP: usize = 2;
/// A column is not made narrower than this.
const LEAST: usize = 8;

/// Rows of cells; the first row is the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) indent: usize,
    rows: Vec<Vec<Vec<Span>>>,
}

/// A table. Cells are one line each: line ends in them are shown as escapes.
pub(crate) fn table<const N: usize, C>(head: [&str; N], rows: &[[C; N]]) -> Text
where
    C: Clone + Into<Text>,
{
    let head = head.map(Text::from);
    let body = rows.iter().map(|row| row.iter().map(|cell| spans(cell.clone().into())).collect());
    let rows = std::iter::once(head.into_iter().map(spans).collect()).chain(body).collect();
    Text { blocks: vec![Block::Table(Table { indent: 0, rows })] }
}

fn spans(cell: Text) -> Vec<Span> {
    let lines = cell.blocks.into_iter().filter_map(|block| match block {
        Block::Line(line) => Some(line.spans),
        Block::Table(_) => None,
    });
    let mut joined = Vec::new();
    for (at, mut line) in lines.enumerate() {
        if at > 0 {
            joined.push(Span { tone: None, text: "\\n".into() });
        }
        joined.append(&mut line);
    }
    joined
}

impl Table {
    /// Every line of the table.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<Vec<Cell>> {
        let rows: Vec<Vec<Vec<Cell>>> =
            self.rows.iter().map(|row| row.iter().map(|spans| wrap::cells(spans)).collect()).collect();
        let columns = rows.first().map_or(0, Vec::len);
        let natural = (0..columns).map(|at| rows.iter().map(|row| wrap::columns(&row[at])).max().unwrap_or(0));
        let mut widths: Vec<usize> = natural.collect();
        let around = self.indent + GAP * columns.saturating_sub(1);
        if let Some(width) = width {
            narrow(&mut widths, width.saturating_sub(around));
        }
        rows.iter().flat_map(|row| self.row(row, &widths)).collect()
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

/// Makes columns narrower until the sum fits, or none can give more: the last one first, which is free text, so that ids
/// and states stay in one piece as long as they can; then the widest.
fn narrow(widths: &mut [usize], room: usize) {
    let excess = widths.iter().sum::<usize>().saturating_sub(room);
    if let Some(last) = widths.last_mut() {
        *last -= excess.min(last.saturating_sub(LEAST));
    }
    loop {
        let sum: usize = widths.iter().sum();
        let Some(widest) = widths.iter_mut().max().filter(|widest| sum > room && **widest > LEAST) else { return };
        *widest -= 1;
    }
}
