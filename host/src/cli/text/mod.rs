//! Text for people: spans that are safe on a terminal, each with an optional tone.
//!
//! Text of plugins, plans and tools is escaped when `From` converts it into a span. Styles are added when a
//! line is written and never pass through the escaper. Every escape sequence on a terminal is therefore one
//! of this program.

mod table;
mod visible;
mod wrap;

use std::fmt::Write as _;
use std::ops::{Add, AddAssign};

use anstyle::{AnsiColor, Style};

pub(crate) use table::table;
pub(crate) use visible::visible;

use table::Table;
use visible::visible_lines;

/// Meaning of a piece of text, shown as a style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A heading.
    Title,
    /// A success.
    Good,
    /// A fact that needs attention.
    Attention,
    /// A failure.
    Bad,
    /// A less important fact.
    Quiet,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Title => Style::new().bold(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Attention => AnsiColor::Yellow.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Quiet => Style::new().dimmed(),
        }
    }

    /// Returns one line of text in this tone. A line end in the text is shown as an escape.
    pub fn of(self, text: impl AsRef<str>) -> Text {
        Text::one(TextLine { spans: vec![Span { tone: Some(self), text: visible(text.as_ref()) }], no_wrap: false })
    }
}

/// Safe text without line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    tone: Option<Tone>,
    text: String,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TextLine {
    spans: Vec<Span>,
    /// True if this program must not wrap the line. The terminal wraps the line instead, and a person can copy the line
    /// in one piece.
    no_wrap: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Line(TextLine),
    Table(Table),
}

/// Lines and tables. A text with neither prints one empty line.
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

    /// Returns all texts, one below the other.
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
    pub fn cut(&self, color: bool, width: usize) -> Vec<String> {
        let lines = self.blocks.iter().flat_map(|block| match block {
            Block::Line(line) => vec![wrap::cells(&line.spans)],
            Block::Table(table) => table.lines(None),
        });
        let cut = lines.map(|cells| {
            let mut out = String::new();
            write_cells(&mut out, &wrap::cut(&cells, width), color);
            out
        });
        cut.collect()
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
    /// Keeps line ends. Every other character that a terminal would act on is shown as an escape.
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

/// Writes the characters of one line, with a style around each run of one tone.
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

#[cfg(test)]
mod tests;
