//! The part of PostgreSQL's protocol that is needed to find message boundaries and commits.

use std::collections::BTreeSet;

/// Splits a stream of bytes into messages.
#[derive(Default)]
pub(super) struct MessageSplitter {
    left: Vec<u8>,
    /// True if the next message begins with a type byte. Only the first message of a client has no type byte.
    begun: bool,
}

impl MessageSplitter {
    /// Returns a splitter for the bytes that a server sends.
    pub(super) fn of_server() -> Self {
        Self { begun: true, ..Self::default() }
    }

    /// Adds bytes and returns the messages that are now complete, in order.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.left.extend_from_slice(bytes);
        let mut whole = Vec::new();
        loop {
            let typed = usize::from(self.begun);
            let Some(length) = self.left.get(typed..typed + 4) else { return whole };
            let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize + typed;
            if self.left.len() < length {
                return whole;
            }
            let rest = self.left.split_off(length);
            whole.push(std::mem::replace(&mut self.left, rest));
            self.begun = true;
        }
    }
}

/// State of a client: its prepared COMMIT statements and the messages not yet forwarded. Parse, Bind,
/// Describe, Execute and Close messages are held back. They are forwarded together with the next message of
/// another type, such as Sync.
#[derive(Default)]
pub(super) struct ClientMessages {
    commits: BTreeSet<Vec<u8>>,
    pending: Vec<u8>,
    committing: bool,
}

impl ClientMessages {
    /// Adds a message. Returns `None` if the message is held back. Otherwise returns the bytes to forward to the
    /// server, and true if these bytes contain a COMMIT.
    pub(super) fn push(&mut self, message: &[u8]) -> Option<(Vec<u8>, bool)> {
        let mut texts = message.get(5..).unwrap_or_default().split(|byte| *byte == 0);
        match message[0] {
            b'P' => {
                let (name, sql) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
                if sql == b"COMMIT" {
                    self.commits.insert(name.to_vec());
                }
            }
            // The message names the portal, then the statement.
            b'B' => self.committing |= texts.nth(1).is_some_and(|name| self.commits.contains(name)),
            b'Q' => self.committing |= texts.next() == Some(b"COMMIT"),
            _ => {}
        }
        self.pending.extend_from_slice(message);
        let goes_on = matches!(message[0], b'P' | b'B' | b'D' | b'E' | b'C');
        (!goes_on).then(|| (std::mem::take(&mut self.pending), std::mem::take(&mut self.committing)))
    }
}

/// Type of the server's message `ReadyForQuery`. The server then waits for the client.
pub(super) const READY_FOR_QUERY: u8 = b'Z';
/// Type of the server's message `NotificationResponse`.
pub(super) const NOTIFICATION_RESPONSE: u8 = b'A';
