//! Determines the kind of a file, and reads the imports and exports of WebAssembly.

use std::fmt;

use wasmparser::types::Types;
use wasmparser::{Payload, Validator, WasmFeatures};

use latchwork_engine::interfaces::names::outermost_names;

use crate::inspect::names;

/// Kind of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A component that is completely readable.
    Component,
    /// A core module that no build step has wrapped as a component.
    CoreModule,
    /// An empty file.
    Empty,
    /// WebAssembly that ends too early, at this byte offset.
    Truncated(usize),
    /// WebAssembly that cannot be read, with the reason.
    Damaged(String),
    /// WebAssembly in another version of the format.
    OtherVersion,
    /// Text, with a guess at its kind.
    Text(&'static str),
    /// Another binary format, with its name.
    Other(&'static str),
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileKind::Component => f.write_str("a component"),
            FileKind::CoreModule => f.write_str("a core module, not a component"),
            FileKind::Empty => f.write_str("an empty file"),
            FileKind::Truncated(at) => write!(f, "WebAssembly that ends too early, at byte {at}"),
            FileKind::Damaged(why) => write!(f, "WebAssembly that cannot be read: {why}"),
            FileKind::OtherVersion => f.write_str("WebAssembly in another version of its format"),
            FileKind::Text(kind) => write!(f, "text, not WebAssembly: {kind}"),
            FileKind::Other(kind) => write!(f, "not WebAssembly: {kind}"),
        }
    }
}

impl FileKind {
    /// Returns an identifier for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            FileKind::Component => "component",
            FileKind::CoreModule => "core-module",
            FileKind::Empty => "empty",
            FileKind::Truncated(_) => "truncated",
            FileKind::Damaged(_) => "damaged",
            FileKind::OtherVersion => "other-version",
            FileKind::Text(_) => "text",
            FileKind::Other(_) => "other",
        }
    }
}

/// Imports and exports of a core module.
pub(super) struct CoreModule {
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<String>,
    /// True if the module contains the metadata from which a component can be made.
    pub(super) has_component_type: bool,
}

/// Result of reading a file.
pub(super) struct FileContents {
    pub(super) form: FileKind,
    pub(super) types: Option<Types>,
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<String>,
    pub(super) module: Option<CoreModule>,
}

pub(super) fn read(bytes: &[u8]) -> FileContents {
    let nothing = |form| FileContents { form, types: None, imports: vec![], exports: vec![], module: None };
    let form = match kind_from_header(bytes) {
        Ok(form) => form,
        Err(other) => return nothing(other),
    };
    match Validator::new_with_features(WasmFeatures::all()).validate_all(bytes) {
        Ok(types) => {
            let mut read = FileContents { types: Some(types), ..nothing(form.clone()) };
            match form {
                FileKind::Component => (read.imports, read.exports) = outermost_names(bytes),
                _ => read.module = Some(core_module(bytes)),
            }
            read
        }
        Err(error) if error.message().contains("unexpected end") => nothing(FileKind::Truncated(error.offset())),
        Err(error) => {
            let place = names::function_at(bytes, error.offset()).map(|name| format!(" in {name}")).unwrap_or_default();
            nothing(FileKind::Damaged(format!("{error}{place}")))
        }
    }
}

/// Determines the kind from the first bytes. Returns `Ok` for a component or a core module, whose remaining bytes must
/// still be read. Returns every other kind as `Err`, because nothing more is read from such a file.
fn kind_from_header(bytes: &[u8]) -> Result<FileKind, FileKind> {
    if bytes.is_empty() {
        return Err(FileKind::Empty);
    }
    if let Some(rest) = bytes.strip_prefix(b"\0asm") {
        return match rest {
            [0x0d, 0, 1, 0, ..] => Ok(FileKind::Component),
            [1, 0, 0, 0, ..] => Ok(FileKind::CoreModule),
            short if short.len() < 4 => Err(FileKind::Truncated(bytes.len())),
            _ => Err(FileKind::OtherVersion),
        };
    }
    const MAGIC: [(&[u8], &str); 9] = [
        (b"\x1f\x8b", "gzip; unpack it first"),
        (b"\x28\xb5\x2f\xfd", "zstd; unpack it first"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"\x7fELF", "a native program or library of Linux; build for a wasm32 target"),
        (b"\xcf\xfa\xed\xfe", "a native program or library of macOS; build for a wasm32 target"),
        (b"MZ", "a native program or library of Windows; build for a wasm32 target"),
        (b"!<arch>\n", "an archive of object files; link it into a component"),
        (b"LATCHAOT", "compiled code from this host's cache; use the component it was compiled from"),
        (b"BC\xc0\xde", "LLVM bitcode; link it into a component"),
    ];
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(FileKind::Other(kind));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Err(FileKind::Text(text_kind(text))),
        Err(_) => Err(FileKind::Other("an unknown binary format")),
    }
}

fn text_kind(text: &str) -> &'static str {
    let start = text.trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
    if begins(&["(component", "(module"]) || (begins(&[";;"]) && text.contains("(component")) {
        "the WebAssembly text format; convert it with `wasm-tools parse`"
    } else if begins(&["version https://git-lfs"]) {
        "a pointer of Git LFS; fetch the file with `git lfs pull`"
    } else if begins(&["<!DOCTYPE", "<!doctype", "<html", "<HTML"]) {
        "an HTML page, perhaps the error page of a server"
    } else if begins(&["package ", "world ", "interface "]) && text.contains('{') {
        "WIT, which describes components; build a component for it"
    } else if begins(&["{", "["]) {
        "JSON"
    } else if text.contains("def ") || begins(&["import ", "from "]) && !text.contains(';') {
        "Python source; build it with `latch plugin build` or componentize-py"
    } else if text.contains("export ") || text.contains("function ") || text.contains("=>") {
        "JavaScript source; build it with `latch plugin build`, componentize-qjs or componentize-js"
    } else if text.contains("fn ") {
        "Rust source; build it with `latch plugin build`"
    } else {
        "an unknown kind of source"
    }
}

fn core_module(bytes: &[u8]) -> CoreModule {
    let mut module = CoreModule { imports: vec![], exports: vec![], has_component_type: false };
    for payload in wasmparser::Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        match payload {
            Payload::ImportSection(section) => {
                let imports = section.into_imports().map_while(Result::ok);
                module.imports.extend(imports.map(|import| format!("{}.{}", import.module, import.name)));
            }
            Payload::ExportSection(section) => {
                module.exports.extend(section.into_iter().map_while(Result::ok).map(|export| export.name.to_owned()));
            }
            Payload::CustomSection(section) => {
                module.has_component_type |= section.name().starts_with("component-type");
            }
            _ => {}
        }
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_components_are_identified() {
        let form = |bytes: &[u8]| read(bytes).form;
        assert_eq!(form(b""), FileKind::Empty);
        assert_eq!(form(b"\0asm\x0d\0\x01\0"), FileKind::Component);
        assert_eq!(form(b"\0asm\x01\0\0\0"), FileKind::CoreModule);
        assert_eq!(form(b"\0asm\x0d"), FileKind::Truncated(5));
        assert_eq!(form(b"\0asm\x0c\0\x01\0"), FileKind::OtherVersion);
        assert!(matches!(form(b"\0asm\x0d\0\x01\0\x07"), FileKind::Truncated(_)));
        assert!(matches!(form(b"\0asm\x0d\0\x01\0\x77\x01\0"), FileKind::Damaged(_)));
        for (text, word) in [
            ("(component)", "wasm-tools parse"),
            ("import time\n\ndef run(x):\n  pass\n", "Python"),
            ("export const run = () => 1;\n", "JavaScript"),
            ("use std::fs;\nfn main() {}\n", "Rust"),
            ("version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
            ("<!DOCTYPE html>", "HTML"),
            ("package a:b;\nworld w {}\n", "WIT"),
            ("not a component", "unknown kind"),
        ] {
            assert!(form(text.as_bytes()).to_string().contains(word), "{text}");
        }
        assert!(form(b"\x7fELF\x02").to_string().contains("Linux"));
        assert!(form(b"\x1f\x8b\x08").to_string().contains("gzip"));
        assert!(form(b"\xff\xfe\0").to_string().contains("unknown"));
    }
}
