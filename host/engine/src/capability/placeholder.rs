//! Placeholders that represent secrets inside a guest, and their replacement in outgoing requests.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::HeaderValue;
use wasmtime_wasi_http::{Error, WasiBody};

use crate::os::Machine;

/// Start of every placeholder. A placeholder contains only letters, digits and `-`. It therefore needs no escaping in a
/// header, in JSON or in a form.
const PREFIX: &[u8] = b"latch-secret-";
/// Number of random bytes in a placeholder, which writes them in hexadecimal. A placeholder cannot be guessed. Text
/// from outside therefore cannot contain a placeholder that is replaced by a secret.
const NONCE_BYTES: usize = 16;
const LEN: usize = PREFIX.len() + 2 * NONCE_BYTES;

/// Placeholders handed out in one call. Clones share the placeholders.
#[derive(Clone)]
pub(crate) struct Placeholders {
    machine: Machine,
    entries: Arc<Mutex<Vec<Entry>>>,
}

struct Entry {
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
            entries.push(Entry { name: name.to_owned(), placeholder: placeholder.clone(), value });
            placeholder
        })
    }

    /// Inserts secrets into the value of a header, including placeholders in `Basic` credentials. Fails if a secret
    /// contains bytes that are not allowed in a header.
    pub(crate) fn replace_in_header(&self, value: &HeaderValue) -> Result<HeaderValue, Error> {
        let bytes = self.replace_in_basic(value.as_bytes()).unwrap_or_else(|| self.replace_all(value.as_bytes()));
        if bytes == value.as_bytes() {
            return Ok(value.clone());
        }
        let mut value = HeaderValue::from_bytes(&bytes).map_err(|_| {
            Error::InternalError(Some("a secret holds a line break or another byte no header may have".to_owned()))
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn replace_all(&self, text: &[u8]) -> Vec<u8> {
        let mut replacer = Replacer::new(self.clone());
        let mut bytes = replacer.push(text);
        bytes.extend(replacer.finish());
        bytes
    }

    /// Replaces placeholders in `Basic` credentials. The credentials are base64 of `user:password`. A placeholder is
    /// not visible in base64, so the credentials are decoded, replaced and encoded again. Returns `None` if the value
    /// has no such credentials, or if the credentials contain no placeholder.
    fn replace_in_basic(&self, value: &[u8]) -> Option<Vec<u8>> {
        let (scheme, credentials) = value.split_at_checked(6)?;
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return None;
        }
        let plain = BASE64.decode(credentials.trim_ascii()).ok()?;
        let replaced = self.replace_all(&plain);
        (replaced != plain).then(|| [scheme, BASE64.encode(replaced).as_bytes()].concat())
    }

    /// Inserts secrets into a body while it is streamed.
    pub(crate) fn replace_in_body(&self, body: WasiBody) -> WasiBody {
        ReplacedBody { inner: body, replacer: Replacer::new(self.clone()), trailers: None, ended: false }.boxed_unsync()
    }

    fn with<R>(&self, f: impl FnOnce(&mut Vec<Entry>) -> R) -> R {
        f(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn value_of(&self, placeholder: &[u8]) -> Option<Vec<u8>> {
        self.with(|entries| {
            let entry = entries.iter().find(|entry| entry.placeholder.as_bytes() == placeholder)?;
            Some(entry.value.clone().into_bytes())
        })
    }
}

/// Replaces placeholders in a stream. A possible start of a placeholder is held back until the next piece
/// arrives.
struct Replacer {
    placeholders: Placeholders,
    held: Vec<u8>,
}

impl Replacer {
    fn new(placeholders: Placeholders) -> Self {
        Self { placeholders, held: Vec::new() }
    }

    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(piece);
        let mut output = Vec::with_capacity(input.len());
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            let seen = rest.len().min(PREFIX.len());
            if rest[..seen] != PREFIX[..seen] {
                output.push(rest[0]);
                at += 1;
            } else if rest.len() < LEN {
                self.held = rest.to_vec();
                break;
            } else if let Some(value) = self.placeholders.value_of(&rest[..LEN]) {
                output.extend(value);
                at += LEN;
            } else {
                output.push(rest[0]);
                at += 1;
            }
        }
        output
    }

    /// Ends the stream and returns the bytes that were held back. These bytes are not a complete placeholder.
    fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

struct ReplacedBody {
    inner: WasiBody,
    replacer: Replacer,
    /// Trailers that have arrived and are not passed on yet. The bytes that were held back are passed on before the
    /// trailers.
    trailers: Option<Frame<Bytes>>,
    ended: bool,
}

impl Body for ReplacedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            if let Some(trailers) = self.trailers.take() {
                return Poll::Ready(Some(Ok(trailers)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            let bytes = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.replacer.push(&data),
                    Err(trailers) => {
                        self.trailers = Some(trailers);
                        self.replacer.finish()
                    }
                },
                None => {
                    self.ended = true;
                    self.replacer.finish()
                }
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.trailers.is_none() && self.replacer.held.is_empty() && (self.ended || self.inner.is_end_stream())
    }

    /// Returns an exact size only after the end of the body, because replacement changes the length.
    fn size_hint(&self) -> SizeHint {
        if self.is_end_stream() { SizeHint::with_exact(0) } else { SizeHint::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replace(placeholders: &Placeholders, pieces: &[&[u8]]) -> Vec<u8> {
        let mut replacer = Replacer::new(placeholders.clone());
        let mut all: Vec<u8> = pieces.iter().flat_map(|piece| replacer.push(piece)).collect();
        all.extend(replacer.finish());
        all
    }

    #[test]
    fn placeholder_is_stable_per_secret_and_unknown_ones_are_unchanged() {
        let placeholders = Placeholders::new(Machine::system());
        let a = placeholders.hand_out("A", "alpha".into());
        assert_eq!(a, placeholders.hand_out("A", "alpha".into()));
        assert_eq!(a.len(), LEN);
        let foreign = format!("latch-secret-{}", "0".repeat(32));
        assert_eq!(replace(&placeholders, &[foreign.as_bytes()]), foreign.as_bytes());
        let header = placeholders.replace_in_header(&HeaderValue::from_str(&format!("Bearer {a}")).unwrap()).unwrap();
        assert_eq!(header.as_bytes(), b"Bearer alpha");
        assert!(header.is_sensitive());
        let broken = placeholders.hand_out("B", "two\nlines".into());
        assert!(placeholders.replace_in_header(&HeaderValue::from_str(&broken).unwrap()).is_err());
    }

    /// I13: a guest uses a placeholder as the password in `Basic` credentials. The placeholder must be replaced.
    #[test]
    fn placeholder_in_basic_credentials_is_replaced() {
        let placeholders = Placeholders::new(Machine::system());
        let secret = placeholders.hand_out("A", "pass:wörd".into());
        let header = |text: String| placeholders.replace_in_header(&HeaderValue::from_str(&text).unwrap()).unwrap();
        let sent = header(format!("Basic {}", BASE64.encode(format!("me:{secret}"))));
        assert_eq!(sent.as_bytes(), format!("Basic {}", BASE64.encode("me:pass:wörd")).as_bytes());
        assert!(sent.is_sensitive());
        let sent = header(format!("basic {}", BASE64.encode(&secret)));
        assert_eq!(sent.as_bytes(), format!("basic {}", BASE64.encode("pass:wörd")).as_bytes());
        for other in [format!("Basic {}", BASE64.encode("me:mine")), "Basic not base64!".into(), "Basic".into()] {
            assert_eq!(header(other.clone()).as_bytes(), other.as_bytes(), "unchanged");
        }
        let broken = placeholders.hand_out("B", "two\nlines".into());
        let sent = header(format!("Basic {}", BASE64.encode(format!("me:{broken}"))));
        assert_eq!(sent.as_bytes(), format!("Basic {}", BASE64.encode("me:two\nlines")).as_bytes());
    }

    proptest! {
        /// Every placeholder in a text is replaced, regardless of how the text is split into pieces.
        #[test]
        fn placeholders_are_replaced_across_piece_boundaries(
            parts in proptest::collection::vec(prop_oneof![
                Just("A".to_owned()), Just("B".to_owned()), "latch-sec?r?e?t?-?", "[a-z-]{0,20}",
            ], 0..12),
            cuts in proptest::collection::vec(0usize..400, 0..8),
        ) {
            let placeholders = Placeholders::new(Machine::system());
            let a = placeholders.hand_out("A", "the first".into());
            let b = placeholders.hand_out("B", String::new());
            let text: String = parts.iter().map(|part| match part.as_str() {
                "A" => a.as_str(), "B" => b.as_str(), other => other,
            }).collect();
            let wanted = text.replace(&a, "the first").replace(&b, "");
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            prop_assert_eq!(String::from_utf8(replace(&placeholders, &pieces)).unwrap(), wanted);
        }
    }
}
