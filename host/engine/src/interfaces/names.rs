//! Reads the names of imports and exports from the bytes of a component.

use wasmparser::{Encoding, Parser, Payload};

/// Returns the names of imports and exports if the bytes are a complete component, or `None` otherwise.
pub(crate) fn names_of_component(bytes: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let mut payloads = Parser::new(0).parse_all(bytes);
    let is_component = matches!(payloads.next(), Some(Ok(Payload::Version { encoding: Encoding::Component, .. })));
    (is_component && payloads.all(|payload| payload.is_ok())).then(|| outermost_names(bytes))
}

/// Returns the names of the imports and exports of the outermost component.
pub fn outermost_names(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
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
