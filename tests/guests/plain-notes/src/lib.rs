//! Untyped component that changes the world: appends lines to files.

wit_bindgen::generate!({
    inline: "
        package example:notes@0.3.0;

        interface notes {
            record written { lines: u32, file: string }
            variant problem { no-such-folder, broken(string) }
            append: func(file: string, line: string) -> result<written, problem>;
            read: func(file: string) -> result<list<string>, problem>;
            append-then-fail: func(file: string, line: string) -> result<written, problem>;
        }

        world plain-notes {
            export notes;
        }
    ",
});

use exports::example::notes::notes::{Guest, Problem, Written};
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

struct Notes;

fn broken(wrong: impl std::fmt::Debug) -> Problem {
    Problem::Broken(format!("{wrong:?}"))
}

fn content(file: &str) -> Result<String, Problem> {
    let (folder, _) = get_directories().into_iter().next().ok_or(Problem::NoSuchFolder)?;
    let opened = folder.open_at(PathFlags::empty(), file, OpenFlags::empty(), DescriptorFlags::READ);
    let Ok(opened) = opened else { return Ok(String::new()) };
    let (bytes, _) = opened.read(1 << 20, 0).map_err(broken)?;
    String::from_utf8(bytes).map_err(broken)
}

impl Guest for Notes {
    fn append(file: String, line: String) -> Result<Written, Problem> {
        let text = content(&file)? + &line + "\n";
        let (folder, _) = get_directories().into_iter().next().ok_or(Problem::NoSuchFolder)?;
        let opened = folder
            .open_at(PathFlags::empty(), &file, OpenFlags::CREATE | OpenFlags::TRUNCATE, DescriptorFlags::WRITE)
            .map_err(broken)?;
        opened.write(text.as_bytes(), 0).map_err(broken)?;
        Ok(Written { lines: text.lines().count() as u32, file })
    }

    fn read(file: String) -> Result<Vec<String>, Problem> {
        Ok(content(&file)?.lines().map(str::to_owned).collect())
    }

    fn append_then_fail(file: String, line: String) -> Result<Written, Problem> {
        let _ = Self::append(file, line)?;
        Err(Problem::Broken("after the fact".into()))
    }
}

export!(Notes);
