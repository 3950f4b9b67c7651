//! Checks of secrets: named secrets without a value, and secret files that other users can read.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use latchwork::config::Config;
use latchwork_engine::capability::{EnvOrFile, Secrets};

use crate::commands::doctor::check::DoctorCheck;

const NAME: &str = "secrets";
/// Permission bits of other users and of the group.
const OTHERS: u32 = 0o077;

pub(super) fn secrets(config: &Config, checks: &mut Vec<DoctorCheck>) {
    let before = checks.len();
    let dir = config.secrets_dir();
    let source = EnvOrFile { dir: dir.clone() };
    let wanted = required_secrets(config);
    for (name, users) in &wanted {
        let value = source.value(name);
        if value.as_ref().is_none_or(String::is_empty) {
            let users = users.iter().cloned().collect::<Vec<_>>().join(", ");
            let lack = if value.is_none() { "has no value" } else { "is empty" };
            let found = format!("{name}, which {users} may use, {lack}");
            let fix =
                format!("set LATCH_SECRET_{name}, or write the value to {} with mode 600", dir.join(name).display());
            checks.push(
                DoctorCheck::fail(NAME, found, fix)
                    .with_subject("secret", name.as_str())
                    .with_subject("used_by", users),
            );
        }
    }
    check_permissions(&dir, checks);
    if checks.len() == before && !wanted.is_empty() {
        checks.push(DoctorCheck::ok(NAME, format!("{} named, each with a value", wanted.len())));
    }
}

/// Returns the names of the secrets in the configuration. Each name has the plugins and sections that use the secret.
fn required_secrets(config: &Config) -> BTreeMap<String, BTreeSet<String>> {
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |name: &str, user: String| {
        wanted.entry(name.to_owned()).or_default().insert(user);
    };
    for plugin in config.plugins() {
        for name in plugin.grants.secret_names() {
            add(name, format!("plugin {}", plugin.name));
        }
        for name in plugin.verifier.iter().flat_map(|verifier| &verifier.headers).flat_map(|header| header.secrets()) {
            add(name, format!("the verifier of plugin {}", plugin.name));
        }
    }
    for name in config.notify().iter().flat_map(|notify| &notify.headers).flat_map(|header| header.secrets()) {
        add(name, "[notify]".to_owned());
    }
    wanted
}

/// Warns if other users can change the folder of secrets or access a secret file.
fn check_permissions(dir: &Path, checks: &mut Vec<DoctorCheck>) {
    let Ok(about) = std::fs::metadata(dir) else { return };
    let folder_is_closed = about.permissions().mode() & 0o011 == 0;
    if about.permissions().mode() & 0o022 != 0 {
        let found = format!("{} can be changed by other users (mode {:o})", dir.display(), about.mode() & 0o7777);
        checks.push(DoctorCheck::warn(NAME, found, format!("chmod 700 {}", dir.display())));
    }
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            let found = format!("{} cannot be read: {error}", dir.display());
            return checks.push(DoctorCheck::fail(NAME, found, format!("chmod 700 {}, as its owner", dir.display())));
        }
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let Ok(about) = std::fs::metadata(&file) else { continue };
        // Ignores the modes of the files if other users cannot enter the folder.
        if about.is_file() && about.permissions().mode() & OTHERS != 0 && !folder_is_closed {
            let found = format!("{} is open to other users (mode {:o})", file.display(), about.mode() & 0o7777);
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            checks.push(
                DoctorCheck::warn(NAME, found, format!("chmod 600 {}", file.display())).with_subject("secret", name),
            );
        }
    }
}
