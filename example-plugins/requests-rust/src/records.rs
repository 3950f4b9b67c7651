//! Records, stored as folders of revisions in a granted directory.

use latchwork_guest::{Error, config, fs, wall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum number of tries to create a revision while other writers create revisions.
const RACES_MAX: u32 = 100;

/// A record: the folder of its revisions.
pub struct Record {
    directory: String,
}

/// A revision of a record, stored in one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Revision {
    pub revision: u32,
    /// External key of the call that created the revision.
    pub key: String,
    /// Time of creation, as RFC 3339.
    pub at: String,
    /// Whole record after the change.
    pub record: Map<String, Value>,
}

/// Returns the key of the revision that undoes the change of `key`.
pub fn undo_key(key: &str) -> String {
    format!("{key}~undo")
}

/// Returns the file name of a revision. Names sort in the order of revisions.
pub fn file_name(revision: u32) -> String {
    format!("{revision:06}.json")
}

impl Record {
    /// Opens the record `request_id` in the folder of the config key `directory`, by default `/requests`.
    pub fn open(request_id: &str) -> Result<Self, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if request_id.is_empty() || request_id.len() > 64 || !request_id.chars().all(plain) {
            return Err(Error::invalid_input(format!(
                "invalid request_id {request_id:?}: use 1 to 64 characters from A-Z a-z 0-9 - _"
            )));
        }
        let root: Option<String> = config::get("directory")?;
        let root = root.unwrap_or_else(|| "/requests".into());
        Ok(Self { directory: format!("{}/{request_id}", root.trim_end_matches('/')) })
    }

    /// Returns all revisions, oldest first.
    pub fn revisions(&self) -> Result<Vec<Revision>, Error> {
        let entries = match fs::list(&self.directory) {
            Err(error) if error.kind() == fs::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let files = entries.iter().filter(|entry| !entry.name.starts_with('.') && entry.name.ends_with(".json"));
        files
            .map(|entry| {
                let path = format!("{}/{}", self.directory, entry.name);
                serde_json::from_slice(&fs::read(&path)?)
                    .map_err(|error| Error::dependency_unavailable(format!("{path} is damaged: {error}")).not_applied())
            })
            .collect()
    }

    /// Creates the next revision with `change` applied. Returns the existing revision if this key has created
    /// one already.
    pub fn change(&self, key: &str, change: impl Fn(&mut Map<String, Value>)) -> Result<Revision, Error> {
        fs::create_dir(&self.directory).map_err(|error| Error::from(error).not_applied())?;
        for _ in 0..RACES_MAX {
            let revisions = self.revisions()?;
            if let Some(made) = revisions.iter().find(|revision| revision.key == key) {
                return Ok(made.clone());
            }
            let (number, mut record) = match revisions.last() {
                Some(last) => (last.revision + 1, last.record.clone()),
                None => (1, Map::new()),
            };
            change(&mut record);
            let next = Revision { revision: number, key: key.to_owned(), at: wall::now().to_string(), record };
            let mut text = serde_json::to_vec_pretty(&next).map_err(|error| Error::invalid_input(error.to_string()))?;
            text.push(b'\n');
            match fs::publish(&format!("{}/{}", self.directory, file_name(number)), &text, key) {
                Ok(()) => return Ok(next),
                // Another writer created this revision first. The next round applies the change to that
                // revision.
                Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::transient_db_lock(format!("{} changes too often", self.directory)))
    }
}
