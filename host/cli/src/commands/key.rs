//! `latch key`: private keys that sign evidence, and their public keys.

use std::path::Path;

use serde_json::json;

use latchwork::evidence::SigningKey;
use latchwork_core::model::error_docs;
use latchwork_core::model::person::PublicKey;

use crate::args::{KeyArgs, KeyCommand};
use crate::context::CommandContext;
use crate::error::{CliError, Exit};
use crate::files::save;
use crate::files::save::FileReaders;
use crate::files::signing_key::read;

pub(crate) fn run(args: &KeyArgs, ctx: &CommandContext<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        KeyCommand::New(args) => {
            let key = SigningKey::generate(ctx.session().machine());
            write_new(&args.file, &key.to_pem())?;
            let file = args.file.display();
            answer(ctx, &args.file, key.public(), &format!("{file} is a new private key: keep it secret"));
        }
        KeyCommand::Show(args) => answer(ctx, &args.file, read(&args.file)?.public(), ""),
    }
    Ok(Exit::Done)
}

fn answer(ctx: &CommandContext<'_>, file: &Path, key: PublicKey, note: &str) {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let line = format!("{key} {name}");
    let document = json!({ "file": file.display().to_string(), "public_key": key.to_string(), "trust_line": line });
    ctx.answer(&document, || if note.is_empty() { line.clone() } else { format!("{note}\n{line}") });
}

/// Writes a new key file. An existing file is never replaced, because its key would be lost. A failed write
/// leaves no file.
fn write_new(path: &Path, pem: &str) -> Result<(), CliError> {
    let exists =
        || CliError::input(error_docs::KEY_REFUSED, format!("{} already exists and is unchanged", path.display()));
    if path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    save::create(path, pem.as_bytes(), FileReaders::Owner).map_err(|error| match error.code {
        error_docs::OUTPUT_EXISTS => exists(),
        _ => error,
    })
}
