//! Replaces secrets by their placeholders in the answers of servers.
//!
//! A value is found as it is, and inside base64 with either alphabet, wherever it begins in the encoded text. A value
//! of fewer than [`SECRET_BYTES_MIN`] bytes is not looked for, because it could be a part of any text. A value that is
//! compressed, encrypted, escaped or encoded in another way is not found.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use hyper::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use hyper::{Method, Response};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::capability::placeholder::Placeholders;
use crate::capability::replaced_body::{StreamReplacer, replaced};
use crate::capability::settings::PluginSettings;

/// Length in bytes of the shortest value that is replaced.
pub const SECRET_BYTES_MIN: usize = 8;

/// The secrets of a plugin, as texts to find and their placeholders.
#[derive(Clone)]
pub(crate) struct SecretEcho(Arc<Patterns>);

struct Patterns {
    finder: AhoCorasick,
    texts: Vec<Vec<u8>>,
    /// Placeholder of each text.
    placeholders: Vec<String>,
}

impl SecretEcho {
    /// Returns the secrets that `settings` names and that have values. Returns `None` if the plugin has no such
    /// secrets, or receives them in clear.
    pub(crate) fn new(settings: &PluginSettings, placeholders: &Placeholders) -> Option<Self> {
        if settings.grants.secrets_clear {
            return None;
        }
        let names = settings.grants.secret_names();
        let values = names.into_iter().filter_map(|name| Some((name, settings.secrets.value(name)?)));
        let found = values.filter(|(_, value)| value.len() >= SECRET_BYTES_MIN);
        let found: Vec<_> = found.map(|(name, value)| (placeholders.hand_out(name, value.clone()), value)).collect();
        Self::of(&found)
    }

    fn of(found: &[(String, String)]) -> Option<Self> {
        let forms = |(placeholder, value): &(String, String)| {
            let encoded = (0..3).flat_map(|before| base64_forms(value.as_bytes(), before));
            let texts = std::iter::once(value.clone().into_bytes()).chain(encoded);
            texts.map(|text| (text, placeholder.clone())).collect::<Vec<_>>()
        };
        let (texts, placeholders): (Vec<_>, Vec<_>) = found.iter().flat_map(forms).unzip();
        if texts.is_empty() {
            return None;
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts).ok()?;
        Some(Self(Arc::new(Patterns { finder, texts, placeholders })))
    }

    /// Replaces the secrets in headers and body of a response.
    pub(crate) fn replace_in(&self, method: &Method, response: Response<WasiBody>) -> Response<WasiBody> {
        let (mut parts, body) = response.into_parts();
        self.replace_in_headers(&mut parts.headers);
        // A response to HEAD has no body. Its length describes the body of another response, so the header is kept.
        if *method != Method::HEAD {
            parts.headers.remove(CONTENT_LENGTH);
        }
        Response::from_parts(parts, replaced(body, EchoStream { echo: self.clone(), held: Vec::new() }))
    }

    fn replace_in_headers(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut() {
            let mut stream = EchoStream { echo: self.clone(), held: Vec::new() };
            let mut bytes = stream.take(value.as_bytes(), false);
            bytes.extend(stream.take(&[], true));
            if bytes != value.as_bytes() {
                // Placeholders contain only bytes that a header may contain.
                *value = HeaderValue::from_bytes(&bytes).unwrap_or_else(|_| HeaderValue::from_static(""));
            }
        }
    }
}

/// Returns the base64 characters that depend on `value` alone, if `before` bytes precede the value. The first form uses
/// the standard alphabet, and the second form uses the alphabet for URLs.
pub(super) fn base64_forms(value: &[u8], before: usize) -> [Vec<u8>; 2] {
    let padded = [&vec![0; before], value].concat();
    // Each character holds six bits. The first characters also hold bits of the bytes before the value. The last
    // character may also hold bits of the bytes after the value.
    let (first, last) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
    [BASE64_STANDARD_NO_PAD.encode(&padded), BASE64_URL_SAFE_NO_PAD.encode(&padded)]
        .map(|text| text.as_bytes()[first..last].to_vec())
}

/// Replaces secrets in a stream of bytes.
struct EchoStream {
    echo: SecretEcho,
    /// Possible start of a secret.
    held: Vec<u8>,
}

impl EchoStream {
    /// Takes the next piece and returns the bytes that are complete. With `is_end`, no further piece follows.
    fn take(&mut self, piece: &[u8], is_end: bool) -> Vec<u8> {
        let Patterns { finder, texts, placeholders } = &*self.echo.0;
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(piece);
        let mut output = Vec::with_capacity(input.len());
        let mut at = 0;
        loop {
            // A text that begins at `open` or later may continue in the next piece.
            let open = if is_end { input.len() } else { first_open(texts, &input, at) };
            match finder.find(&input[at..]).filter(|found| at + found.start() < open) {
                Some(found) => {
                    output.extend_from_slice(&input[at..at + found.start()]);
                    output.extend_from_slice(placeholders[found.pattern().as_usize()].as_bytes());
                    at += found.end();
                }
                None => {
                    output.extend_from_slice(&input[at..open]);
                    self.held = input[open..].to_vec();
                    return output;
                }
            }
        }
    }
}

/// Returns the first position, from `at` on, at which the rest of the input is the beginning of a longer text in
/// `texts`. Returns the length of the input if there is no such position.
fn first_open(texts: &[Vec<u8>], input: &[u8], at: usize) -> usize {
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    let from = at.max((input.len() + 1).saturating_sub(longest));
    let begins = |rest: &[u8]| texts.iter().any(|text| text.len() > rest.len() && text.starts_with(rest));
    (from..input.len()).find(|&start| begins(&input[start..])).unwrap_or(input.len())
}

impl StreamReplacer for EchoStream {
    fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.take(piece, false))
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(self.take(&[], true))
    }

    fn trailers(&self, trailers: &mut HeaderMap) -> Result<(), Error> {
        self.echo.replace_in_headers(trailers);
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
    use proptest::prelude::*;

    use super::*;

    fn echo(secrets: &[(&str, &str)]) -> SecretEcho {
        let pair = |(placeholder, value): &(&str, &str)| ((*placeholder).to_owned(), (*value).to_owned());
        SecretEcho::of(&secrets.iter().map(pair).collect::<Vec<_>>()).unwrap()
    }

    fn replaced(echo: &SecretEcho, pieces: &[&[u8]]) -> Vec<u8> {
        let mut stream = EchoStream { echo: echo.clone(), held: Vec::new() };
        let mut all: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece).unwrap()).collect();
        all.extend(stream.finish().unwrap());
        all
    }

    /// I201. A secret is found in base64 wherever it begins, and in both alphabets.
    #[test]
    fn secret_in_base64_is_replaced_at_every_offset() {
        let value = "s3cr\u{f6}t?>~value";
        let echo = echo(&[("P", value)]);
        for before in 0..7 {
            for after in 0..4 {
                let text = format!("{}{value}{}", "x".repeat(before), "y".repeat(after));
                for encoded in [BASE64_STANDARD.encode(&text), BASE64_URL_SAFE.encode(&text)] {
                    let found = replaced(&echo, &[encoded.as_bytes()]);
                    let found = String::from_utf8(found).unwrap();
                    assert!(found.contains('P') && found.len() < encoded.len() / 2 + 12, "{before} {after} {found}");
                }
            }
        }
        let plain = BASE64_STANDARD.encode("another text without the value of it");
        assert_eq!(replaced(&echo, &[plain.as_bytes()]), plain.as_bytes());
    }

    #[test]
    fn longer_secret_is_replaced_as_a_whole() {
        let echo = echo(&[("SHORT", "12345678"), ("LONG", "12345678-and-more")]);
        assert_eq!(replaced(&echo, &[b"<12345678-and-more>"]), b"<LONG>");
        assert_eq!(replaced(&echo, &[b"<12345678-and-", b"more>"]), b"<LONG>");
        assert_eq!(replaced(&echo, &[b"<12345678-and-", b"less>"]), b"<SHORT-and-less>");
        assert_eq!(replaced(&echo, &[b"<12345678-and-"]), b"<SHORT-and-");
    }

    #[test]
    fn headers_are_replaced() {
        let echo = echo(&[("latch-secret-1", "hunter2-hunter2")]);
        let mut headers = HeaderMap::new();
        headers.insert("x-echo", HeaderValue::from_static("Bearer hunter2-hunter2"));
        headers.insert("x-other", HeaderValue::from_static("hunter2-hunter"));
        echo.replace_in_headers(&mut headers);
        assert_eq!(
            (&headers["x-echo"], &headers["x-other"]),
            (&"Bearer latch-secret-1".parse().unwrap(), &"hunter2-hunter".parse().unwrap())
        );
    }

    proptest! {
        /// I201. No split of a body hides a secret, and no other text changes.
        #[test]
        fn secrets_are_replaced_across_piece_boundaries(
            parts in proptest::collection::vec(prop_oneof![
                Just("abcabcabd".to_owned()), Just("abcabcabdabcabcabe".to_owned()), "[abcde]{0,9}",
            ], 0..9),
            cuts in proptest::collection::vec(0usize..160, 0..9),
        ) {
            let echo = echo(&[("<1>", "abcabcabd"), ("<2>", "abcabcabdabcabcabe")]);
            let text = parts.concat();
            let whole = replaced(&echo, &[text.as_bytes()]);
            let wanted = text.replace("abcabcabdabcabcabe", "<2>").replace("abcabcabd", "<1>");
            prop_assert_eq!(&whole, wanted.as_bytes());
            let mut cuts: Vec<_> = cuts.into_iter().map(|offset| offset.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]).collect();
            prop_assert_eq!(replaced(&echo, &pieces), whole);
        }
    }
}
