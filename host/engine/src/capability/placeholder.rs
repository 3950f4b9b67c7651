//! Placeholders that represent secrets inside a guest.

use std::sync::{Arc, Mutex, PoisonError};

use crate::os::Machine;

/// Start of every placeholder. A placeholder contains only letters, digits and `-`. It therefore needs no escaping in a
/// header, in JSON or in a form.
pub(crate) const PREFIX: &[u8] = b"latch-secret-";
/// Number of random bytes in a placeholder. The placeholder contains them in hexadecimal. A placeholder cannot be
/// guessed. Text from outside can therefore not contain a placeholder that is replaced by a secret.
const NONCE_BYTES: usize = 16;
/// Length of a placeholder in bytes.
pub(crate) const LEN: usize = PREFIX.len() + 2 * NONCE_BYTES;

/// Placeholders handed out in one call. Clones share the placeholders.
#[derive(Clone)]
pub(crate) struct Placeholders {
    machine: Machine,
    entries: Arc<Mutex<Vec<IssuedPlaceholder>>>,
}

struct IssuedPlaceholder {
    name: String,
    placeholder: String,
    value: String,
}

impl Placeholders {
    /// Creates an empty list. The random part of each placeholder is drawn from the entropy of `machine`.
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, entries: Arc::default() }
    }

    /// Returns the placeholder of a secret. A secret has one placeholder for the whole call.
    pub(crate) fn hand_out(&self, name: &str, value: String) -> String {
        self.with(|entries| {
            if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
                return entry.placeholder.clone();
            }
            let nonce = hex::encode(self.machine.random_bytes::<NONCE_BYTES>());
            let placeholder = format!("{}{nonce}", String::from_utf8_lossy(PREFIX));
            entries.push(IssuedPlaceholder { name: name.to_owned(), placeholder: placeholder.clone(), value });
            placeholder
        })
    }

    fn with<R>(&self, f: impl FnOnce(&mut Vec<IssuedPlaceholder>) -> R) -> R {
        f(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns name and value of the secret with this placeholder.
    pub(crate) fn resolve(&self, placeholder: &[u8]) -> Option<(String, Vec<u8>)> {
        self.with(|entries| {
            let entry = entries.iter().find(|entry| entry.placeholder.as_bytes() == placeholder)?;
            Some((entry.name.clone(), entry.value.clone().into_bytes()))
        })
    }
}
