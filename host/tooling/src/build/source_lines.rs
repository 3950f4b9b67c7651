//! Table that maps positions in a JavaScript bundle to positions in the plugin's sources. The table is made from the
//! source map of esbuild. The source map is many times larger than the table.
//!
//! The table is appended to the bundle. With the table, the SDK replaces the positions in a stack by source positions.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// Name of the global variable that holds the table.
const GLOBAL: &str = "latchworkSourceLines";

/// A source map, version 3.
#[derive(Deserialize)]
struct SourceMap {
    sources: Vec<String>,
    mappings: String,
}

/// One entry of the table. It gives the source position of its own bundle position, and applies up to the next entry.
/// Within this range, each further line of the bundle is one line further in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MappingEntry {
    /// Line and column of the bundle, from 1.
    line: i64,
    column: i64,
    /// Number of the source, and the line in it, from 1.
    source: i64,
    source_line: i64,
}

/// Returns the statement that sets the table. `map` is the source map. `obj` is the folder of the bundle and the map.
///
/// A source in the project `dir` is named by its path in the project. A file of the SDK is named `latchwork/…`. Every
/// other source is named by its file name.
pub(super) fn statement(map: &[u8], obj: &Path, dir: &Path, sdk: &Path) -> Option<String> {
    let map: SourceMap = serde_json::from_slice(map).ok()?;
    let sources: Vec<String> = map.sources.iter().map(|source| source_name(&obj.join(source), dir, sdk)).collect();
    let entries: Vec<i64> = entries(&map.mappings)?
        .into_iter()
        .flat_map(|entry| [entry.line, entry.column, entry.source, entry.source_line])
        .collect();
    let table = serde_json::json!({ "sources": sources, "entries": entries });
    Some(format!("\nglobalThis.{GLOBAL} = {table};\n"))
}

fn source_name(source: &Path, dir: &Path, sdk: &Path) -> String {
    let whole = normalized(source);
    let within = |folder: &Path| whole.strip_prefix(normalized(folder)).ok().map(Path::to_path_buf);
    let name = match (within(dir), within(sdk)) {
        (Some(path), _) => path,
        (None, Some(path)) => Path::new("latchwork").join(path),
        (None, None) => whole.file_name().map(PathBuf::from).unwrap_or_default(),
    };
    name.to_string_lossy().into_owned()
}

/// Returns the path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole
}

/// Reads the mappings. Leaves out an entry if the previous entry already implies it.
fn entries(mappings: &str) -> Option<Vec<MappingEntry>> {
    let mut found: Vec<MappingEntry> = Vec::new();
    let (mut source, mut source_line) = (0, 1);
    for (line, segments) in (1..).zip(mappings.split(';')) {
        let mut column = 1;
        for segment in segments.split(',').filter(|segment| !segment.is_empty()) {
            let fields = base64_vlq(segment)?;
            column += fields.first()?;
            let (Some(more_sources), Some(more_lines)) = (fields.get(1), fields.get(2)) else { continue };
            source += more_sources;
            source_line += more_lines;
            let entry = MappingEntry { line, column, source, source_line };
            let follows =
                |last: &MappingEntry| last.source == source && last.source_line + (line - last.line) == source_line;
            if !found.last().is_some_and(follows) {
                found.push(entry);
            }
        }
    }
    Some(found)
}

/// Decodes the numbers of a segment. Each base64 digit holds five bits of a number, and one bit that is set if more
/// digits follow. The lowest bit of a number is its sign.
fn base64_vlq(segment: &str) -> Option<Vec<i64>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0_i64, 0);
    for digit in segment.bytes() {
        let digit = DIGITS.iter().position(|known| *known == digit)? as i64;
        if shift > 40 {
            return None;
        }
        number |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            numbers.push(if number & 1 == 1 { -(number >> 1) } else { number >> 1 });
            (number, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I244: the table has an entry where the source does not continue line by line.
    #[test]
    fn table_has_an_entry_for_each_jump() {
        // Three lines of one source, then line 10 of another one, and line 12 in the middle of the line.
        let found = entries("AAAA;AACA;AACA;ACOA,KAEA").unwrap();
        let entry = |line, column, source, source_line| MappingEntry { line, column, source, source_line };
        assert_eq!(found, [entry(1, 1, 0, 1), entry(4, 1, 1, 10), entry(4, 6, 1, 12)]);
        assert_eq!(base64_vlq("gB").unwrap(), [16]);
        assert_eq!(base64_vlq("D").unwrap(), [-1]);
        assert_eq!((base64_vlq("g"), base64_vlq("?"), base64_vlq("gggggggggggg")), (None, None, None));
    }

    /// I244: no source is named by a path of this machine.
    #[test]
    fn sources_are_named_by_their_path_in_the_project() {
        let (obj, dir, sdk) = (Path::new("/p/x/build/.obj"), Path::new("/p/x"), Path::new("/home/ada/sdk/js"));
        let map = br#"{"sources":["../../src/plugin.js","../../../../home/ada/sdk/js/json.js","/tmp/other.js"],"mappings":"AAAA"}"#;
        let statement = statement(map, obj, dir, sdk).unwrap();
        let names = r#""sources":["src/plugin.js","latchwork/json.js","other.js"]"#;
        assert!(statement.contains(names) && statement.contains(r#""entries":[1,1,0,1]"#), "{statement}");
        assert_eq!(super::statement(b"{}", obj, dir, sdk), None);
    }
}
