//! Text as lines and tables, and its output.

use std::fmt::Write as _;
use std::ops::{Add, AddAssign};

use crate::text::table::TextTable;
use crate::text::tone::{Span, Tone};
use crate::text::visible::{visible, visible_lines};
use crate::text::wrap;

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TextLine {
    spans: Vec<Span>,
    /// True if this program must not wrap the line. The terminal wraps the line instead, so that a person can copy the
    /// line in one piece.
    no_wrap: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Line(TextLine),
    Table(TextTable),
}

/// Lines and tables. An empty text prints one empty line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    blocks: Vec<Block>,
}

/// Properties of the output to which text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextTarget {
    /// True if tones are shown as styles.
    pub color: bool,
    /// Width of the terminal in columns, or `None` if lines are not wrapped.
    pub width: Option<usize>,
}

impl TextTarget {
    /// Target for a file, a pipe or a field of a document.
    pub const PLAIN: TextTarget = TextTarget { color: false, width: None };
}

impl Tone {
    /// Returns one line of text in this tone. A line end in the text is shown as an escape.
    pub fn of(self, text: impl AsRef<str>) -> Text {
        Text::one(TextLine { spans: vec![Span { tone: Some(self), text: visible(text.as_ref()) }], no_wrap: false })
    }
}

impl Text {
    fn one(line: TextLine) -> Text {
        Text { blocks: vec![Block::Line(line)] }
    }

    /// Returns a line that is not wrapped, such as a command to copy.
    pub fn unwrapped(text: impl AsRef<str>) -> Text {
        let span = Span { tone: None, text: visible(text.as_ref()) };
        Text::one(TextLine { spans: vec![span], no_wrap: true })
    }

    /// Returns lines that are not wrapped.
    pub fn unwrapped_lines(text: &str) -> Text {
        Text::lines(text.lines().map(Text::unwrapped))
    }

    /// Appends the next command to type, on its own line. The line is not wrapped.
    pub fn with_command(self, command: impl AsRef<str>) -> Text {
        self.under(Text::unwrapped(command).indented(2))
    }

    /// Appends `other` below this text.
    pub fn under(mut self, other: impl Into<Text>) -> Text {
        self.blocks.extend(other.into().blocks);
        self
    }

    /// Returns all texts as one text, each below the previous text.
    pub fn lines(texts: impl IntoIterator<Item = impl Into<Text>>) -> Text {
        let blocks = texts.into_iter().flat_map(|text| {
            let text = text.into();
            if text.blocks.is_empty() { vec![Block::Line(TextLine::default())] } else { text.blocks }
        });
        Text { blocks: blocks.collect() }
    }

    /// Indents each line and table by `by` columns.
    pub fn indented(mut self, by: usize) -> Text {
        for block in &mut self.blocks {
            match block {
                Block::Line(line) => line.spans.insert(0, Span { tone: None, text: " ".repeat(by) }),
                Block::Table(table) => table.indent += by,
            }
        }
        self
    }

    /// Returns the text as it is written to the target. Every line has a line end.
    pub fn render(&self, to: TextTarget) -> String {
        let mut out = String::new();
        if self.blocks.is_empty() {
            out.push('\n');
        }
        for block in &self.blocks {
            match block {
                Block::Line(line) => {
                    let width = to.width.filter(|_| !line.no_wrap);
                    for cells in wrap::line(&wrap::cells(&line.spans), width) {
                        write_cells(&mut out, &cells, to.color);
                        out.push('\n');
                    }
                }
                Block::Table(table) => {
                    for cells in table.lines(to.width) {
                        write_cells(&mut out, &cells, to.color);
                        out.push('\n');
                    }
                }
            }
        }
        out
    }

    /// Returns the lines of a text that is redrawn in place. Each line is cut at the edge of the terminal.
    pub fn truncate(&self, color: bool, width: usize) -> Vec<String> {
        let lines = self.blocks.iter().flat_map(|block| match block {
            Block::Line(line) => vec![wrap::cells(&line.spans)],
            Block::Table(table) => table.lines(None),
        });
        let truncated = lines.map(|cells| {
            let mut out = String::new();
            write_cells(&mut out, &wrap::truncate(&cells, width), color);
            out
        });
        truncated.collect()
    }

    /// Returns the text without styles and without the last line end.
    pub fn plain(&self) -> String {
        let mut text = self.render(TextTarget::PLAIN);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// Appends text to the last line.
    fn push(&mut self, other: Text) {
        let mut rest = other.blocks.into_iter();
        if let Some(Block::Line(last)) = self.blocks.last_mut() {
            match rest.next() {
                Some(Block::Line(first)) => {
                    last.spans.extend(first.spans);
                    last.no_wrap |= first.no_wrap;
                }
                Some(table) => self.blocks.push(table),
                None => {}
            }
        }
        self.blocks.extend(rest);
    }
}

impl From<&str> for Text {
    /// Keeps line ends. Every other character that controls a terminal is shown as an escape.
    fn from(text: &str) -> Self {
        let line = |line: &str| {
            let spans = if line.is_empty() { vec![] } else { vec![Span { tone: None, text: line.to_owned() }] };
            Block::Line(TextLine { spans, no_wrap: false })
        };
        Text { blocks: visible_lines(text).split('\n').map(line).collect() }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Vec<Text>> for Text {
    fn from(texts: Vec<Text>) -> Self {
        Text::lines(texts)
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Text;

    fn add(mut self, other: T) -> Text {
        self.push(other.into());
        self
    }
}

impl<T: Into<Text>> AddAssign<T> for Text {
    fn add_assign(&mut self, other: T) {
        self.push(other.into());
    }
}

/// Creates a table. Each cell is one line; line ends in a cell are shown as escapes.
pub(crate) fn table<const N: usize, C>(head: [&str; N], rows: &[[C; N]]) -> Text
where
    C: Clone + Into<Text>,
{
    let head = head.map(Text::from);
    let body = rows.iter().map(|row| row.iter().map(|cell| spans(cell.clone().into())).collect());
    let rows = std::iter::once(head.into_iter().map(spans).collect()).chain(body).collect();
    Text { blocks: vec![Block::Table(TextTable { indent: 0, rows })] }
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

/// Writes the characters of one line, with one style for each sequence of characters of the same tone.
fn write_cells(out: &mut String, cells: &[wrap::Cell], color: bool) {
    let end = cells.iter().rposition(|cell| cell.char != ' ').map_or(0, |last| last + 1);
    for run in cells[..end].chunk_by(|a, b| a.tone == b.tone) {
        let text = run.iter().map(|cell| cell.char).collect::<String>();
        // Writing to a string cannot fail.
        let _ = match run[0].tone.filter(|_| color).map(Tone::style) {
            Some(style) => write!(out, "{style}{text}{style:#}"),
            None => write!(out, "{text}"),
        };
    }
}
