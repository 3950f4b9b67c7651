//! Pictures of a terminal's screen at points in time.

use crate::support::terminal::style_name;

/// Part of a row: text in one style that contains no two adjacent spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Column of the first character, from 0.
    pub(super) column: usize,
    /// Style as `style_name` returns it.
    pub(super) style: String,
    pub(super) text: String,
}

/// Screen of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// Runs of each row, down to the row of the cursor.
    pub(super) rows: Vec<Vec<Run>>,
    /// Row and column of the cursor, from 0.
    pub(super) cursor: (usize, usize),
}

/// Picture with the time at which it appears.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Milliseconds since the start of the recording.
    pub(super) at_ms: u64,
    pub(super) picture: Picture,
}

impl Picture {
    pub(super) fn of(screen: &vt100::Screen) -> Picture {
        let (rows, columns) = screen.size();
        let mut rows: Vec<Vec<Run>> = (0..rows).map(|row| runs(screen, row, columns)).collect();
        let (row, column) = screen.cursor_position();
        let cursor = (usize::from(row), usize::from(column));
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(used.max(cursor.0 + 1));
        Picture { rows, cursor }
    }
}

/// Returns the runs of a row. A run ends where the style changes, and before two adjacent spaces.
fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut blanks = 2;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.contents().trim().is_empty()) else {
            blanks += 1;
            continue;
        };
        let style = style_name(cell);
        match runs.last_mut().filter(|run| run.style == style && blanks < 2) {
            Some(run) => run.text += &format!("{}{}", " ".repeat(blanks), cell.contents()),
            None => runs.push(Run { column: column.into(), style, text: cell.contents().to_owned() }),
        }
        blanks = 0;
    }
    runs
}

/// Returns rows as text, with styles as tags such as `<bold red>error</>`.
pub(super) fn styled_text(rows: &[Vec<Run>]) -> String {
    let line = |row: &Vec<Run>| {
        let (mut line, mut end) = (String::new(), 0);
        for Run { column, style, text } in row {
            line += &" ".repeat(column.saturating_sub(end));
            line += &if style.is_empty() { text.clone() } else { format!("<{style}>{text}</>") };
            end = column + text.chars().count();
        }
        line
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn runs_end_at_styles_and_gaps() {
    let mut parser = vt100::Parser::new(3, 20, 0);
    parser.process(b"a b  c \x1b[1mno\x1b[0m\r\n\r\n  $ ");
    let picture = Picture::of(parser.screen());
    assert_eq!(styled_text(&picture.rows), "a b  c <bold>no</>\n\n  $");
    assert_eq!((picture.rows[0].len(), picture.cursor), (3, (2, 4)));
}
