//! A Maildir in a granted directory, with the folders `tmp`, `new` and `cur`.

use latchwork_guest::{Error, config, fs};

/// The Maildir that messages are delivered to.
pub struct Maildir {
    root: String,
}

/// Returns the Maildir of the plugin's config key `maildir`, by default `/outbox`.
pub fn configured() -> Result<Maildir, Error> {
    let root: Option<String> = config::get("maildir")?;
    Ok(Maildir { root: root.unwrap_or_else(|| "/outbox".into()) })
}

impl Maildir {
    /// Delivers a message as a file in `new`. The file appears in `new` only when it is complete. Returns the path of
    /// the file below the Maildir.
    pub fn deliver(&self, key: &str, message: &[u8]) -> Result<String, Error> {
        for folder in ["tmp", "new", "cur"] {
            fs::create_dir(&self.path(folder)).map_err(|error| Error::from(error).not_applied())?;
        }
        let name = name(key);
        let temporary = self.path(&format!("tmp/{name}"));
        if fs::exists(&temporary)? {
            // An earlier try of this call crashed while it wrote this file. No other call uses the key, so the file can
            // be removed.
            fs::remove(&temporary).map_err(|error| Error::from(error).not_applied())?;
        }
        // Nothing is delivered if an error occurs before the rename, because a file in `tmp` is not a message yet.
        fs::create_new(&temporary, message).map_err(|error| Error::from(error).not_applied())?;
        let delivered = format!("new/{name}");
        fs::rename(&temporary, &self.path(&delivered))?;
        Ok(delivered)
    }

    /// Returns the path of the message with this key, relative to the Maildir. Returns `None` if the Maildir has no
    /// such message.
    pub fn find(&self, key: &str) -> Result<Option<String>, Error> {
        self.find_name(&name(key))
    }

    /// Returns true if the message that was delivered as `path` still exists, read or unread.
    pub fn holds(&self, path: &str) -> Result<bool, Error> {
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(self.find_name(name)?.is_some())
    }

    /// Deletes the unread message of this key. Fails if a mail reader has moved the message to `cur` or has deleted it,
    /// because deletion cannot undo reading.
    pub fn withdraw(&self, key: &str) -> Result<(), Error> {
        match self.find(key).map_err(Error::not_applied)? {
            Some(path) if path.starts_with("new/") => match fs::remove(&self.path(&path)) {
                Ok(()) => Ok(()),
                // A mail reader moved the message after the check.
                Err(error) if error.kind() == fs::ErrorKind::NotFound => Err(seen(key)),
                Err(error) => Err(error.into()),
            },
            Some(_) => Err(seen(key)),
            None => Err(Error::policy_denied(format!("the message of {key} does not exist any more"))),
        }
    }

    fn find_name(&self, name: &str) -> Result<Option<String>, Error> {
        let fresh = format!("new/{name}");
        if fs::exists(&self.path(&fresh))? {
            return Ok(Some(fresh));
        }
        // A mail reader moves a read message to `cur` and appends flags to its name: `name:2,S`.
        let seen = match fs::list(&self.path("cur")) {
            Err(error) if error.kind() == fs::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let matches = |entry: &&fs::Entry| {
            entry.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(":2,"))
        };
        Ok(seen.iter().find(matches).map(|entry| format!("cur/{}", entry.name)))
    }

    fn path(&self, below: &str) -> String {
        format!("{}/{below}", self.root.trim_end_matches('/'))
    }
}

fn seen(key: &str) -> Error {
    Error::policy_denied(format!("the message of {key} was read and cannot be withdrawn"))
}

/// Returns the file name of a key. Characters other than letters, digits, `_` and `-` are written as
/// hexadecimal codes, so different keys have different names.
fn name(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 16);
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            other => name.push_str(&format!("={other:02x}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn different_keys_have_different_files() {
        assert_eq!(name("latch:job_1:s3/0:1"), "latch=3ajob_1=3as3=2f0=3a1");
        assert_ne!(name("a:b"), name("a.b"));
        assert!(!name("../../etc/passwd").contains(['/', '.']));
    }
}
