//! Records as folders of revisions in a granted directory.

use latchwork_guest::{Error, config, fs, wall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How often a change is tried on top of somebody else's.
const RACES_MAX: u32 = 100;

/// One record.
pub struct Record {
    directory: String,
}

/// One file: what a call made of the record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Revision {
    pub revision: u32,
    /// The external key of the call that made it.
    pub key: String,
    /// When it was made.
    pub at: String,
    /// The whole record.
    pub record: Map<String, Value>,
}

/// The key under which the change of `key` is undone.
pub fn undo_key(key: &str) -> String {
    format!("{key}~undo")
}

/// The file of a revision; in the order of names they are in the order of time.
pub fn file_name(revision: u32) -> String {
    format!("{revision:06}.json")
}

impl Record {
    /// The record of a request, in the directory that the plugin's config names, `/requests` without.
    pub fn open(request_id: &str) -> Result<Self, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if request_id.is_empty() || request_id.len() > 64 || !request_id.chars().all(plain) {
            return Err(Error::invalid_input(format!("{request_id:?} is no request_id: 1 to 64 of A-Z a-z 0-9 - _")));
        }
        let root: Option<String> = config::get("directory")?;
        let root = root.unwrap_or_else(|| "/requests".into());
        Ok(Self { directory: format!("{}/{request_id}", root.trim_end_matches('/')) })
    }

    /// All revisions, oldest first.
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

    /// Make the next revision, unless this key has made one already. The revision of the key.
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
                // Somebody else made this revision: ours goes on top of it.
                Err(error) if error.kind() == fs::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::transient_db_lock(format!("{} changes too often", self.directory)))
    }
}
