//! Whole screens of commands, compared with files.
//!
//! A screen is one line in `commands.rs`: `(NAME, ARGUMENTS, ANSWERS)`. The command runs in a copy of a prepared folder
//! at 60, 80 and 120 columns, without colours, and on a dumb terminal. The output is compared with
//! `snapshots/NAME.txt`. `JOB` in the arguments is replaced by the id of the folder's job.
//!
//! Values that differ between two runs are replaced by stable values, mostly of the same length. A duration becomes
//! `TIME`. The blanks that pad a duration in a table are reduced to two, because durations vary in length.
//!
//! `LATCH_UPDATE_SCREENS=1` writes the files. Review the files before committing them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::support::program::latch_command;
use crate::support::terminal::{Terminal, TerminalKind, TerminalOutput};
use crate::support::test_env::copy_tree;

/// Name of the file, arguments, and pairs of an expected text and the answer to type.
pub(super) type Screen = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Folder in which the commands run, and its job.
pub(super) struct Stage {
    pub(super) dir: PathBuf,
    pub(super) job: String,
}

impl Stage {
    fn draw(&self, (_, args, answers): &Screen, columns: u16, look: TerminalKind) -> TerminalOutput {
        // The folder name has a fixed length, because the wrapping of lines depends on it.
        let copy = tempfile::Builder::new().prefix("latch-screen-").rand_bytes(6).tempdir_in("/tmp").unwrap();
        copy_tree(&self.dir, copy.path());
        let args = args.replace("JOB", &self.job);
        let args: Vec<&str> = args.split_whitespace().collect();
        let mut command = latch_command(copy.path(), &args);
        command.env("USER", "ada").env("LOGNAME", "ada");
        let mut terminal = Terminal::start(command, columns, look);
        for (question, answer) in *answers {
            terminal.wait_until_contains(question);
            terminal.type_line(answer);
        }
        terminal.wait_for_end()
    }

    /// Returns the contents of a screen's file.
    fn screen_file(&self, screen: &Screen) -> String {
        let (_, args, _) = screen;
        let mut file = format!("$ latch {args}\n");
        let mut part = |title: &str, output: &TerminalOutput, text: String| {
            let _ = write!(file, "\n== {title}, exit {}\n{}\n", output.code, stabilize(&text));
        };
        let narrow = self.draw(screen, 60, TerminalKind::Color);
        part("60 columns", &narrow, narrow.text());
        let usual = self.draw(screen, 80, TerminalKind::Color);
        part("80 columns, styled", &usual, usual.styled());
        let wide = self.draw(screen, 120, TerminalKind::Color);
        part("120 columns", &wide, wide.text());
        for (title, look) in [("without colours", TerminalKind::NoColor), ("dumb", TerminalKind::Dumb)] {
            let plain = self.draw(screen, 80, look);
            let styled = plain.styled();
            assert_eq!(styled, plain.text(), "{args}, {title}: styles are shown");
            let is_same = stabilize(&plain.text()) == stabilize(&usual.text());
            part(&format!("80 columns, {title}"), &plain, if is_same { "(the same)".to_owned() } else { plain.text() });
            if look == TerminalKind::Dumb {
                assert!(!plain.bytes.contains(&0x1b), "{args}: a dumb terminal gets no escape sequence");
            }
        }
        file
    }
}

/// I132: each screen equals its file.
pub(super) fn compare_screens(stage: &Stage, screens: &[Screen]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/screens/snapshots");
    let update = std::env::var_os("LATCH_UPDATE_SCREENS").is_some_and(|value| value == "1");
    let mut wrong = String::new();
    for screen in screens {
        let (file, drawn) = (folder.join(format!("{}.txt", screen.0)), stage.screen_file(screen));
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &drawn).unwrap();
        }
        let known = std::fs::read_to_string(&file).unwrap_or_else(|_| "(there is no such file)".to_owned());
        if known != drawn {
            let _ = write!(wrong, "\n#### {}: expected\n{known}\n#### found\n{drawn}", file.display());
        }
    }
    assert!(wrong.is_empty(), "screens differ; LATCH_UPDATE_SCREENS=1 writes them:\n{wrong}");
}

/// Replaces values that differ between two runs by stable values.
pub(crate) fn stabilize(text: &str) -> String {
    let lines: Vec<String> = replace_job_ids(text)
        .lines()
        .map(|line| remove_padding(&replace_amounts(&replace_words(&replace_worker_names(line)))))
        .collect();
    lines.join("\n")
}

/// Replaces the name of a worker. The name consists of host and process. The terminal may have truncated the name at
/// its edge.
fn replace_worker_names(line: &str) -> String {
    const BEFORE: &str = "begins, worker ";
    let Some(at) = line.find(BEFORE) else { return line.to_owned() };
    let (before, name) = line.split_at(at + BEFORE.len());
    // If the terminal truncated the line at its edge, the end mark `</>` of the style is missing.
    let is_styled = before.contains('<') || name.contains("</>");
    let style = if is_styled { "</>" } else { "" };
    format!("{before}WORKER{style}")
}

/// Replaces job ids, including those that the terminal has wrapped at its edge.
fn replace_job_ids(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split("job_").enumerate() {
        let is_id = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '\n';
        let whole = part.char_indices().filter(|(_, c)| *c != '\n').nth(25).map_or(0, |(last, _)| last + 1);
        let begun = part.find(|c| !is_id(c)).unwrap_or(part.len());
        let len = match at {
            0 => 0,
            _ if whole > 0 && part[..whole].chars().all(is_id) => whole,
            _ if part[begun..].starts_with('…') => begun,
            _ => 0,
        };
        let (id, rest) = part.split_at(len);
        out += if at > 0 { "job_" } else { "" };
        out.extend(id.chars().map(|c| if c == '\n' { c } else { 'J' }));
        out += rest;
    }
    out
}

/// Replaces ids, digests, times and folder names by placeholders of the same length.
fn replace_words(line: &str) -> String {
    let mut out = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let chars: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let len = chars[at..].iter().take_while(|c| is_part(**c)).count();
        let word: String = chars[at..at + len].iter().collect();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_truncated = chars.get(at + len) == Some(&'…');
        let least = if is_truncated { 4 } else { 6 };
        let is_hex = len >= least && word.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        let is_id = len == 26 && word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
        let is_folder = len == 6 && out.ends_with("latch-screen-");
        // A part of a time, such as 2026, 11, 23T21, 05, or 59Z.
        let around = |at: Option<usize>| at.and_then(|at| chars.get(at)).copied().unwrap_or(' ');
        let is_time = digits > 0
            && word.chars().all(|c| c.is_ascii_digit() || c == 'T' || c == 'Z')
            && (around(Some(at + len)) == ':' && around(Some(at + len + 1)).is_ascii_digit() && len > 1
                || around(Some(at + len)) == '-' && len == 4
                || at > 0 && matches!(around(Some(at - 1)), ':' | '-') && (word.contains(['T', 'Z']) || len == 2));
        match () {
            // A random name can consist of hexadecimal digits.
            () if is_folder => out += "FOLDER",
            () if is_id => out += &"J".repeat(len),
            () if is_hex && (digits > 0 || is_truncated) => out += &"h".repeat(len),
            () if is_time => out += &word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>(),
            () => out += &word,
        }
        at += len;
        out.extend(chars.get(at));
        at += 1;
    }
    out
}

/// Replaces each duration by `TIME` and each size by `SIZE`.
fn replace_amounts(line: &str) -> String {
    const UNITS: [&str; 8] = ["ms", "s", "min", "h", "KiB", "kB", "MB", "MiB"];
    // Sizes of at least 1000 bytes are sizes of files. A file contains times, so its size differs by a few bytes
    // between runs. Such a size is therefore replaced. Smaller sizes are sizes of values, and a value has the same size
    // in every run.
    let is_file_size = |number: &str, unit: &str| unit == "bytes" && number.len() >= 4;
    let mut out: Vec<String> = Vec::new();
    let is_number = |word: &str| {
        let word = word.trim_start_matches('(');
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    for word in line.split(' ') {
        let unit = word.trim_end_matches("</>").trim_end_matches([',', ';', ')', ':', '.']);
        let unit = unit.strip_prefix('+').unwrap_or(unit);
        if is_compact_duration(unit) {
            out.push(word.replacen(unit, "TIME", 1));
            continue;
        }
        match out.last_mut().filter(|last| is_number(last)) {
            Some(number) if UNITS.contains(&unit) || is_file_size(number, unit) => {
                let opens = if number.starts_with('(') { "(" } else { "" };
                let time = matches!(unit, "ms" | "s" | "min" | "h");
                *number = format!("{opens}{}{}", if time { "TIME" } else { "SIZE" }, &word[unit.len()..]);
            }
            _ => out.push(word.to_owned()),
        }
    }
    // `3 min 05 s` is one duration.
    out.join(" ").replace("TIME TIME", "TIME")
}

/// Returns true for durations without blanks, such as `0.4s` and `3m05s`.
fn is_compact_duration(word: &str) -> bool {
    let mut rest = word;
    while let Some(at) = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|at| *at > 0) {
        let unit = &rest[at..];
        let Some(after) = ["ms", "s", "m", "h", "d"].iter().find_map(|known| unit.strip_prefix(known)) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty() && word.starts_with(|c: char| c.is_ascii_digit())
}

/// Reduces the blanks around a duration in a table to two, because the padding depends on the length of the duration.
/// The other columns keep their places, because each column is as wide as its head or as the longest possible duration.
/// Offsets are padded on the left only.
fn remove_padding(line: &str) -> String {
    let is_time = |word: &str| matches!(word.trim_end_matches("</>"), "TIME" | "+TIME");
    let mut words: Vec<&str> = Vec::new();
    for word in line.split(' ') {
        let last = words.iter().rposition(|word| !word.is_empty());
        let is_padded = last.is_some_and(|at| words[at].starts_with("TIME")) || is_time(word);
        if let Some(last) = last.filter(|_| is_padded && !word.is_empty()) {
            words.truncate(last + 2);
        }
        words.push(word);
    }
    words.join(" ")
}

#[test]
fn values_that_differ_between_runs_are_replaced() {
    assert_eq!(stabilize("job_01KHTQ3N5V7Y9ABCDEFGHJKMNP is 12 ms old"), format!("job_{} is TIME old", "J".repeat(26)));
    let split = stabilize("latch job show job_01KHTQ3N5V7Y9ABC\nDEFGHJKMNP s1 job_x");
    assert_eq!(split, format!("latch job show job_{}\n{} s1 job_x", "J".repeat(16), "J".repeat(10)));
    assert_eq!(stabilize("file latch:job_01KHTQ3N…"), format!("file latch:job_{}…", "J".repeat(8)));
    assert_eq!(stabilize("32f8… abcd…"), "hhhh… hhhh…");
    assert_eq!(stabilize("attempt 1 begins, worker vm pid 3687</>"), "attempt 1 begins, worker WORKER</>");
    assert_eq!(stabilize("attempt 1 begins, worker v…"), "attempt 1 begins, worker WORKER");
    assert_eq!(stabilize("<bold>attempt 1 begins, worker v…"), "<bold>attempt 1 begins, worker WORKER</>");
    assert_eq!(stabilize("<green>succeeded in 1 ms</>  3m  0.4s"), "<green>succeeded in TIME</>  TIME  TIME");
    assert_eq!(stabilize("+0.012s  in 2d, 3m"), "+TIME  in TIME, TIME");
    assert_eq!(stabilize("expires in 2d</>"), "expires in TIME</>");
    // The result does not depend on the length of the duration.
    for (age, took) in [("0s ", "  3ms"), ("12s", "150ms"), ("2m ", " 9.9s")] {
        let row = format!("job_x  COMPLETED  {age}  {took}          p     ada");
        assert_eq!(stabilize(&row), "job_x  COMPLETED  TIME  TIME  p     ada");
        assert_eq!(
            stabilize(&format!("job_x  PARKED  {age}         REQUIRES at s")),
            "job_x  PARKED  TIME  REQUIRES at s"
        );
    }
    for offset in ["  +0.012s", " +12.345s", "   +3m05s"] {
        assert_eq!(stabilize(&format!("   7 {offset}  read             ready")), "   7  +TIME  read             ready");
        assert_eq!(stabilize(&format!("  12 {offset}                   waits")), "  12  +TIME                   waits");
    }
    for lasted in ["0.042 s", "12.34 s", "3 min 05 s", "2 h 03 min"] {
        assert_eq!(stabilize(&format!("(in {lasted}), {lasted}</>")), "(in TIME), TIME</>");
    }
    assert_eq!(stabilize("      12 ms"), "      TIME");
    assert_eq!(stabilize("3 steps  read      read"), "3 steps  read      read");
    assert_eq!(stabilize("sha256:0a1b2c3d4e5f, (3.2 MB), 2 left"), "sha256:hhhhhhhhhhhh, (SIZE), 2 left");
    assert_eq!(stabilize("COMPLETED, 18842 bytes, not signed"), "COMPLETED, SIZE, not signed");
    assert_eq!(stabilize("output recorded, 110 bytes"), "output recorded, 110 bytes");
    assert_eq!(stabilize("at 2026-11-23T21:05:59Z for s1/0"), "at 0000-00-00T00:00:00Z for s1/0");
    assert_eq!(stabilize("/tmp/latch-screen-aB3dEf/latch.toml:3:1"), "/tmp/latch-screen-FOLDER/latch.toml:3:1");
    assert_eq!(stabilize("in /tmp/latch-screen-0a1b2c/latch.toml"), "in /tmp/latch-screen-FOLDER/latch.toml");
}
