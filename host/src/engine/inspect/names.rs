//! Reads names from a file: names of a component's imports and exports, and names of functions.

use wasmparser::{Encoding, KnownCustom, Name, Parser, Payload, TypeRef};

/// Maximum length of a name, in characters. Longer names are truncated.
const NAME_CHARS_MAX: usize = 160;

/// Returns the names of imports and exports if the bytes are a complete component, or `None` otherwise.
pub(crate) fn names_of_component(bytes: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let mut payloads = Parser::new(0).parse_all(bytes);
    let is_component = matches!(payloads.next(), Some(Ok(Payload::Version { encoding: Encoding::Component, .. })));
    (is_component && payloads.all(|payload| payload.is_ok())).then(|| outermost_names(bytes))
}

/// Returns the names of the imports and exports of the outermost component.
pub(super) fn outermost_names(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let (mut imports, mut exports) = (vec![], vec![]);
    let mut depth = 0usize;
    for payload in Parser::new(0).parse_all(bytes).map_while(Result::ok) {
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                imports.extend(section.into_iter().map_while(Result::ok).map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().map_while(Result::ok).map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    (imports, exports)
}

/// Demangles a function's name and removes the hash that changes with each build.
pub(super) fn demangled(name: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name,
    }
}

/// Returns the name of the function whose code is at this byte offset of the file.
pub(super) fn function_at(bytes: &[u8], at: u64) -> Option<String> {
    // A module's name section follows its code. The search therefore continues after the function's index is
    // known.
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
