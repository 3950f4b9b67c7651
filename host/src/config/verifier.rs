//! Reads the keys `confirmation` and `verifier`, which define how recorded effects are checked when a job is
//! resumed.

use latchwork_core::model::manifest::Confirmation;
use latchwork_engine::capability::grants::Grants;

use super::headers;
use crate::config::types::VerifierConfig;
use crate::located_toml::{TableReader, TomlField};

/// Verifier that requests the entity tag from the server.
const ETAG: &str = "etag";
/// Verifier that reads the file and compares its digest.
const FILE_DIGEST: &str = "file-digest";
const VERIFIERS: [(&str, &str); 2] = [(ETAG, ETAG), (FILE_DIGEST, FILE_DIGEST)];

/// Reads the key `confirmation` of a table.
pub(super) fn confirmation(table: &mut TableReader<'_>) -> Option<Confirmation> {
    let words = Confirmation::ALL.map(|rule| (rule.as_str(), rule));
    table.get("confirmation").and_then(|field| field.choice(&words))
}

/// Reads the key `verifier`: a name, or a table with a name and headers.
pub(super) fn read(field: &TomlField<'_>, grants: &Grants) -> Option<VerifierConfig> {
    if field.value().as_table().is_none() {
        let name = read_name(field, grants)?;
        return Some(VerifierConfig { name: name.to_owned(), headers: vec![] });
    }
    let mut table = field.table()?;
    let name = table.require("name").and_then(|field| read_name(&field, grants));
    let given = table.get("headers");
    if let (Some(field), Some(FILE_DIGEST)) = (&given, name) {
        return field.invalid("`file-digest` sends no requests: only `etag` can have headers");
    }
    let headers = given.and_then(|field| field.table()).map(|table| headers::read(table, Some(grants)));
    table.finish();
    Some(VerifierConfig { name: name?.to_owned(), headers: headers.unwrap_or_default() })
}

/// Reads the name of the verifier. A verifier without a suitable grant is refused. Such a verifier could check nothing,
/// so every resumed job would wait for a person.
fn read_name(field: &TomlField<'_>, grants: &Grants) -> Option<&'static str> {
    let name = field.choice(&VERIFIERS)?;
    if name == ETAG && grants.http.is_empty() {
        return field.invalid("`etag` sends requests, but the plugin is granted no server: add one to `grants.http`");
    }
    if name == FILE_DIGEST && grants.dirs.is_empty() {
        return field
            .invalid("`file-digest` reads files, but the plugin is granted no directory: add one to `grants.dirs`");
    }
    Some(name)
}
