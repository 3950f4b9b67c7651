//! Reads the names of functions from a file.

use latchwork_core::encoding::truncate;
use wasmparser::{KnownCustom, Name, Parser, Payload, TypeRef};

/// Maximum length of a name, in characters. Longer names are truncated.
const NAME_CHARS_MAX: usize = 160;

/// Demangles a function's name and removes the hash that changes with each build.
pub(super) fn demangled(name: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    truncate::at_characters(&name, NAME_CHARS_MAX).to_string()
}

/// Returns the name of the function whose code is at this byte offset of the file.
pub(super) fn function_at(bytes: &[u8], at: usize) -> Option<String> {
    // The loop continues after the function's index is known, because the name section follows the code of a module.
    let mut imported = 0u32;
    let mut defined = 0u32;
    let mut wanted = None;
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        match payload {
            Payload::Version { .. } if wanted.is_none() => (imported, defined) = (0, 0),
            Payload::ImportSection(section) => {
                let functions = |import: &wasmparser::Import<'_>| matches!(import.ty, TypeRef::Func(_));
                imported += section.into_imports().map_while(Result::ok).filter(functions).count() as u32;
            }
            Payload::CodeSectionEntry(body) if wanted.is_none() => {
                if body.range().contains(&at) {
                    wanted = Some(imported + defined);
                }
                defined += 1;
            }
            Payload::CustomSection(section) if wanted.is_some() => {
                if let KnownCustom::Name(names) = section.as_known() {
                    return name_of(names, wanted?);
                }
            }
            Payload::End(_) if wanted.is_some() => return wanted.map(|index| format!("function {index}")),
            _ => {}
        }
    }
    None
}

fn name_of(names: wasmparser::NameSectionReader<'_>, wanted: u32) -> Option<String> {
    for name in names.into_iter().map_while(Result::ok) {
        if let Name::Function(map) = name {
            let found = map.into_iter().map_while(Result::ok).find(|naming| naming.index == wanted);
            return Some(found.map_or_else(|| format!("function {wanted}"), |naming| demangled(naming.name)));
        }
    }
    Some(format!("function {wanted}"))
}
