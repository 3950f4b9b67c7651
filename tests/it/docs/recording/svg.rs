//! An animated SVG of terminals.
//!
//! Each row and each cursor position is an element that is shown for an interval of time. Elements of a terminal with
//! the same interval share a group, and a CSS animation sets the visibility of the group. Without animation, only the
//! elements of the last frame are visible.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::frame::{Frame, Run};

/// Time for which the last frames stay before the animation begins again, in milliseconds.
const HOLD_MS: u64 = 9_000;
/// Width and height of a cell in tenths of a pixel. Text is set to this width in every font.
const CELL: (usize, usize) = (84, 190);
/// Position of the first cell in a window, and the margin at the right and bottom edges, in tenths of a pixel.
const FIRST: (usize, usize) = (180, 440);
const MARGIN: usize = 140;
/// Distance between two windows, in tenths of a pixel.
const GAP: usize = 120;
/// Distance from the top of a row to the base line of its text, in tenths of a pixel.
const BASE_LINE: usize = 138;
/// Text with which the group of each terminal begins.
const TERMINAL: &str = "<g transform=";

/// Styles of the terminals and of their windows. The window has its own background, so that it fits light and dark
/// pages.
const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d1d7e0}
.bold{font-weight:700;fill:#f0f3f6}
.dim{fill:#9198a1}
.red{fill:#ff7b72}
.green{fill:#56d364}
.yellow{fill:#e3b341}
.cyan{fill:#56d4dd}
.cursor{fill:#d1d7e0;opacity:.75}
.window{fill:#151b23;stroke:#3d444d}
.name{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#9198a1;text-anchor:middle}
.past{visibility:hidden}
";

/// Start and end of an interval in milliseconds. An interval without an end lasts to the end of the recording.
type Interval = (u64, Option<u64>);

/// A terminal of the recording.
pub(super) struct Window {
    pub(super) name: String,
    pub(super) columns: usize,
    /// Frames in order. The first frame begins at 0, and each frame ends where the next frame begins.
    pub(super) frames: Vec<Frame>,
}

impl Window {
    /// Returns the number of rows of the largest frame.
    fn rows(&self) -> usize {
        self.frames.iter().map(|frame| frame.picture.rows.len()).max().unwrap_or_default()
    }

    /// Returns width and height in tenths of a pixel.
    fn size(&self) -> (usize, usize) {
        (FIRST.0 + self.columns * CELL.0 + MARGIN, FIRST.1 + self.rows() * CELL.1 + MARGIN)
    }

    /// Returns the elements of each interval.
    fn groups(&self) -> BTreeMap<Interval, String> {
        let mut groups: BTreeMap<Interval, String> = BTreeMap::new();
        for row in 0..self.rows() {
            let content = |frame: &Frame| frame.picture.rows.get(row).map_or_else(String::new, |runs| text(row, runs));
            for (interval, element) in intervals(&self.frames, content) {
                *groups.entry(interval).or_default() += &element;
            }
        }
        let cursor = |frame: &Frame| {
            let (row, column) = frame.picture.cursor;
            let (x, y) = (pixels(FIRST.0 + column * CELL.0), pixels(FIRST.1 + row * CELL.1));
            format!("<rect class=\"cursor\" x=\"{x}\" y=\"{y}\" width=\"8.4\" height=\"18\"/>\n")
        };
        for (interval, element) in intervals(&self.frames, cursor) {
            *groups.entry(interval).or_default() += &element;
        }
        groups
    }

    /// Returns the window without its text.
    fn frame(&self) -> String {
        let (width, height) = self.size();
        let (right, bottom, center) = (pixels(width - 10), pixels(height - 10), pixels(width / 2));
        let mut frame =
            format!("<rect class=\"window\" x=\"0.5\" y=\"0.5\" width=\"{right}\" height=\"{bottom}\" rx=\"8\"/>\n");
        for (x, color) in [(20, "#ff5f57"), (40, "#febc2e"), (60, "#28c840")] {
            let _ = writeln!(frame, "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>");
        }
        let _ = writeln!(frame, "<text class=\"name\" x=\"{center}\" y=\"24.5\">{}</text>", escape(&self.name));
        frame
    }
}

/// Renders windows, one below the other.
pub(super) fn render(title: &str, windows: &[Window]) -> String {
    let groups: Vec<BTreeMap<Interval, String>> = windows.iter().map(Window::groups).collect();
    let timed: BTreeSet<Interval> =
        groups.iter().flat_map(BTreeMap::keys).copied().filter(|at| *at != (0, None)).collect();
    let last = windows.iter().filter_map(|window| window.frames.last()).map(|frame| frame.at_ms).max();
    let total = last.unwrap_or_default() + HOLD_MS;
    let mut svg = head(title, windows);
    // All animations are inside the media query, so that nothing moves for readers who prefer reduced motion.
    svg += "@media (prefers-reduced-motion:no-preference){\n";
    let _ = writeln!(svg, ".timed{{animation:{total}ms step-end infinite}}");
    for (number, interval) in timed.iter().enumerate() {
        let _ = writeln!(svg, ".t{number}{{animation-name:t{number}}}");
        let _ = writeln!(svg, "@keyframes t{number}{{{}}}", keyframes(*interval, total));
    }
    svg += "}\n</style>\n";
    let mut top = 0;
    for (window, groups) in windows.iter().zip(groups) {
        let _ = writeln!(svg, "{TERMINAL}\"translate(0 {})\">", pixels(top));
        svg += &window.frame();
        for (interval, elements) in groups {
            let past = if interval.1.is_some() { " past" } else { "" };
            let class = match timed.iter().position(|other| *other == interval) {
                None => String::new(),
                Some(number) => format!(" class=\"timed t{number}{past}\""),
            };
            let _ = writeln!(svg, "<g{class}>\n{elements}</g>");
        }
        svg += "</g>\n";
        top += window.size().1 + GAP;
    }
    svg + "</svg>\n"
}

/// Returns the first part of the file, which depends only on the title and the sizes of the windows.
pub(super) fn head(title: &str, windows: &[Window]) -> String {
    let width = pixels(windows.iter().map(|window| window.size().0).max().unwrap_or_default());
    let height = pixels(windows.iter().map(|window| window.size().1 + GAP).sum::<usize>().saturating_sub(GAP));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}",
        escape(title)
    )
}

/// Returns the elements of one row or cursor, each with the interval in which it is shown. Intervals without an element
/// are left out.
fn intervals(frames: &[Frame], element: impl Fn(&Frame) -> String) -> Vec<(Interval, String)> {
    let mut found: Vec<(Interval, String)> = Vec::new();
    for frame in frames {
        let element = element(frame);
        match found.last_mut() {
            Some((_, last)) if *last == element => continue,
            Some((interval, _)) => interval.1 = Some(frame.at_ms),
            None => {}
        }
        found.push(((frame.at_ms, None), element));
    }
    found.retain(|(_, element)| !element.is_empty());
    found
}

/// Returns the keyframes of an interval. Each keyframe holds until the next keyframe.
fn keyframes((start, end): Interval, total: u64) -> String {
    let percent = |at: u64| format!("{}.{:03}%", at * 100 / total, at * 100_000 / total % 1_000);
    let before = if start == 0 { "" } else { "0%{visibility:hidden}" };
    let start = percent(start);
    match end.map(percent) {
        None => format!("{before}{start},to{{visibility:visible}}"),
        Some(end) => format!("{before}{start}{{visibility:visible}}{end},to{{visibility:hidden}}"),
    }
}

/// Returns the text elements of a row.
fn text(row: usize, runs: &[Run]) -> String {
    let mut elements = String::new();
    for Run { column, style, text } in runs {
        let (x, y) = (pixels(FIRST.0 + column * CELL.0), pixels(FIRST.1 + row * CELL.1 + BASE_LINE));
        let class = if style.is_empty() { String::new() } else { format!(" class=\"{style}\"") };
        let length = pixels(text.chars().count() * CELL.0);
        let text = escape(text);
        let _ = writeln!(elements, "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\"{class}>{text}</text>");
    }
    elements
}

/// Returns the rows of a rendered file that are visible without animation, for each window.
pub(super) fn last_rows(svg: &str) -> Vec<Vec<Vec<Run>>> {
    svg.split(TERMINAL).skip(1).map(last_rows_of_window).collect()
}

fn last_rows_of_window(part: &str) -> Vec<Vec<Run>> {
    let mut rows: Vec<Vec<Run>> = Vec::new();
    let mut is_past = false;
    for line in part.lines() {
        if line.starts_with("<g") {
            is_past = line.contains(" past\"");
        }
        let Some(element) = line.strip_prefix("<text x=").filter(|_| !is_past) else { continue };
        let (attributes, text) = element.split_once('>').expect("an element has content");
        let mut values = attributes.split('"').skip(1).step_by(2);
        let mut tenths =
            || values.next().and_then(|value| value.replace('.', "").parse::<usize>().ok()).expect("a place");
        let (column, row) = ((tenths() - FIRST.0) / CELL.0, (tenths() - FIRST.1 - BASE_LINE) / CELL.1);
        let style = values.nth(1).unwrap_or_default().to_owned();
        let text = text.strip_suffix("</text>").expect("an element ends on its line");
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        rows.resize(rows.len().max(row + 1), Vec::new());
        rows[row].push(Run { column, style, text });
    }
    for row in &mut rows {
        row.sort_by_key(|run| run.column);
    }
    rows
}

/// Writes tenths of a pixel as pixels.
fn pixels(tenths: usize) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn last_frame_is_visible_without_animation() {
    let frame = |at_ms: u64, bytes: &[u8]| {
        let mut parser = vt100::Parser::new(4, 20, 0);
        parser.process(bytes);
        Frame { at_ms, picture: super::frame::Picture::of(parser.screen()) }
    };
    let frames = vec![
        frame(0, b"$ "),
        frame(500, b"$ a <b>\r\n"),
        frame(800, b"$ a <b>\r\n\x1b[1m1 & 2\x1b[0m\r\n"),
        frame(1000, b"$ a <b>\r\n\x1b[32mdone\x1b[0m\r\n"),
    ];
    let other = Window { name: "other".to_owned(), columns: 20, frames: vec![frame(0, b"$ ")] };
    let windows = [other, Window { name: "A & B".to_owned(), columns: 20, frames }];
    let svg = render("A < B", &windows);
    assert!(svg.starts_with(&head("A < B", &windows)), "{svg}");
    let rows = windows.each_ref().map(|window| window.frames.last().unwrap().picture.rows.clone());
    // The last row contains only the cursor.
    assert_eq!(last_rows(&svg), [rows[0].clone(), rows[1][..2].to_vec()]);
    assert!(svg.contains("<title>A &lt; B</title>") && svg.contains(">1 &amp; 2</text>"), "{svg}");
    // The row that is visible from 0.8 s to 1 s. The animation lasts 10 s.
    let row = "{0%{visibility:hidden}8.000%{visibility:visible}10.000%,to{visibility:hidden}}";
    assert!(svg.contains(row), "{svg}");
    // The last row appears at 1 s and stays.
    assert!(svg.contains("{0%{visibility:hidden}10.000%,to{visibility:visible}}"), "{svg}");
    let animations = svg.find("@media (prefers-reduced-motion:no-preference)").unwrap();
    assert!(svg.find("animation").unwrap() > animations, "animations are inside of the media query");
}
