//! Wraps and cuts lines to the width of the terminal.

use latchwork_core::encoding::truncate;
use unicode_width::UnicodeWidthChar;

use crate::text::tone::{Span, Tone};

/// One character of a line, with its tone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) char: char,
    pub(super) tone: Option<Tone>,
}

/// Extra indentation of the continuation lines of a wrapped line.
const HANG: usize = 4;

/// Returns the characters of the spans.
pub(super) fn cells(spans: &[Span]) -> Vec<Cell> {
    spans.iter().flat_map(|span| span.text.chars().map(|char| Cell { char, tone: span.tone })).collect()
}

/// Returns blanks.
pub(super) fn blank(count: usize) -> impl Iterator<Item = Cell> {
    std::iter::repeat_n(Cell { char: ' ', tone: None }, count)
}

/// Returns the number of columns that the characters occupy.
pub(super) fn columns(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.char.width().unwrap_or(0)).sum()
}

/// Returns the number of columns of the longest word.
pub(super) fn longest_word(cells: &[Cell]) -> usize {
    cells.split(|cell| cell.char == ' ').map(columns).max().unwrap_or(0)
}

/// Wraps a line to `width` columns.
///
/// The line is broken at blanks. A word is broken only if it is longer than a line. A command in backquotes is never
/// broken, because a person must be able to copy the command. Continuation lines are indented.
pub(super) fn line(cells: &[Cell], width: Option<usize>) -> Vec<Vec<Cell>> {
    let Some(width) = width.filter(|width| columns(cells) > *width) else { return vec![cells.to_vec()] };
    let indent = cells.iter().take_while(|cell| cell.char == ' ').count();
    let hang = if indent + HANG < width / 2 { indent + HANG } else { 0 };
    let (first, rest) = cells.split_at(indent);
    let broken = pieces(rest, width.saturating_sub(indent), width - hang, true);
    let lines = broken.into_iter().enumerate().map(|(at, line)| match at {
        0 => first.iter().copied().chain(line).collect(),
        _ => blank(hang).chain(line).collect(),
    });
    lines.collect()
}

/// Wraps text into a first line of at most `first` columns and further lines of at most `others` columns.
pub(super) fn words(rest: &[Cell], first: usize, others: usize) -> Vec<Vec<Cell>> {
    pieces(rest, first, others, false)
}

/// Wraps text like [`words`]. If `keeps_commands` is true, commands stay whole. A line with a command may then exceed
/// its width.
fn pieces(mut rest: &[Cell], first: usize, others: usize, keeps_commands: bool) -> Vec<Vec<Cell>> {
    let mut lines = Vec::new();
    let mut width = first.max(1);
    while columns(rest) > width {
        let fits = fitting(rest, width).max(1);
        // Includes one character beyond the edge: if a word ends exactly at the edge, this character is the blank.
        let blank = rest[..(fits + 1).min(rest.len())].iter().rposition(|cell| cell.char == ' ').filter(|at| *at > 0);
        // A word that is longer than a line is broken after its last `-`, `_` or `/` that fits, else at the edge.
        let joint = || rest[..fits].iter().rposition(|cell| matches!(cell.char, '-' | '_' | '/')).map(|at| at + 1);
        let end = blank.or_else(joint).unwrap_or(fits);
        let end = if keeps_commands { end_outside_commands(rest, end) } else { end };
        let (line, after) = rest.split_at(end);
        lines.push(line.to_vec());
        let skipped = after.iter().take_while(|cell| cell.char == ' ').count();
        rest = &after[skipped..];
        width = others.max(1);
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_vec());
    }
    lines
}

/// Moves `end` out of a command in backquotes: to the blank before the command or, without such a blank, to the blank
/// after the command.
fn end_outside_commands(rest: &[Cell], end: usize) -> usize {
    const BEGINNING: [char; 7] = ['`', 'l', 'a', 't', 'c', 'h', ' '];
    let begins =
        |at: &usize| BEGINNING.iter().enumerate().all(|(n, char)| rest.get(at + n).is_some_and(|c| c.char == *char));
    let Some(start) = (0..end).rev().find(begins) else { return end };
    let Some(length) = rest[start + 1..].iter().position(|cell| cell.char == '`') else { return end };
    let stop = start + length + 2;
    if end >= stop {
        return end;
    }
    let before = rest[..start].iter().rposition(|cell| cell.char == ' ').filter(|at| *at > 0);
    let behind = || rest[stop..].iter().position(|cell| cell.char == ' ').map_or(rest.len(), |at| stop + at);
    before.unwrap_or_else(behind)
}

/// Cuts the line to `width` columns. A cut line ends with an ellipsis.
pub(super) fn truncate(cells: &[Cell], width: usize) -> Vec<Cell> {
    if columns(cells) <= width {
        return cells.to_vec();
    }
    let mut line = cells[..fitting(cells, width.saturating_sub(1))].to_vec();
    line.push(Cell { char: truncate::MARK, tone: line.last().and_then(|cell| cell.tone) });
    line
}

/// Returns the number of characters that fit.
fn fitting(cells: &[Cell], width: usize) -> usize {
    let mut used = 0;
    let fits = cells.iter().take_while(|cell| {
        used += cell.char.width().unwrap_or(0);
        used <= width
    });
    fits.count()
}
