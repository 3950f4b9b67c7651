//! Test of the keys of `latch.toml`.

use serde_json::Value;

use crate::config::{Config, FILE_NAME, LoadOptions};
use crate::located_toml::keys_read::keys;

/// I151: every key that the parser reads must be in the complete document. The tests of the schemas compare this
/// document with the schema.
#[test]
fn complete_document_has_every_key_the_parser_reads() {
    let document: Value = serde_json::from_str(include_str!("complete.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = toml::to_string(&toml::Table::try_from(&document).unwrap()).unwrap();
    std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
    let options = LoadOptions { cwd: folder.path(), config: None, db: None, plan_folder: None, env: &|_| None };
    Config::load(&options).unwrap();
    let missing: Vec<_> = keys().into_iter().filter(|pointer| document.pointer(pointer).is_none()).collect();
    // A key may be missing in one plugin of the document if the other plugin has the key.
    let elsewhere = |pointer: &String| {
        let other = match pointer.strip_prefix("/plugin/1/") {
            Some(rest) => format!("/plugin/0/{rest}"),
            None => pointer.replace("/plugin/0/", "/plugin/1/"),
        };
        document.pointer(&other).is_some()
    };
    let missing: Vec<_> = missing.into_iter().filter(|pointer| !elsewhere(pointer)).collect();
    assert_eq!(missing, Vec::<String>::new(), "keys that the complete document does not have");
}
