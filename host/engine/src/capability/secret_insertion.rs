//! Inserts secrets into outgoing requests, where the grants bind them.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use hyper::Uri;
use hyper::header::{HeaderMap, HeaderValue};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::capability::call_window::CallWindow;
use crate::capability::denied::Denied;
use crate::capability::grants::{HttpGrant, SecretPlace};
use crate::capability::http_grant::check_bound_secret;
use crate::capability::placeholder::{LEN, PREFIX, Placeholders};
use crate::capability::replaced_body::{StreamReplacer, replaced};
use crate::capability::settings::PluginSettings;

/// Inserts the secrets of one request. A placeholder of a secret that no grant binds to its place refuses the request.
#[derive(Clone)]
pub(crate) struct SecretInsertion {
    pub(crate) placeholders: Placeholders,
    pub(crate) settings: Arc<PluginSettings>,
    /// Grants that allow the request.
    pub(crate) matched: Arc<[HttpGrant]>,
    pub(crate) watch: CallWindow,
}

impl SecretInsertion {
    /// Refuses a request with a placeholder in its address. Addresses are written to the logs of servers, and no grant
    /// binds a secret to an address.
    pub(crate) fn check_address(&self, uri: &Uri) -> Result<(), Error> {
        let address = uri.to_string();
        for placeholder in address.as_bytes().windows(LEN).filter(|text| text.starts_with(PREFIX)) {
            if let Some((name, _)) = self.placeholders.resolve(placeholder) {
                let access = format!("wanted to send the secret {name:?} in the address of a request");
                let denied = Denied::never(access, "send it in a header or in the body");
                denied.record(&self.watch, &self.settings.name);
                return Err(Error::HttpRequestDenied);
            }
        }
        Ok(())
    }

    /// Inserts secrets into the values of all headers, also into `Basic` credentials.
    ///
    /// # Errors
    /// A secret is not bound to its header, or contains bytes that are not allowed in a header.
    pub(crate) fn insert_into_headers(&self, headers: &mut HeaderMap) -> Result<(), Error> {
        for (name, value) in headers.iter_mut() {
            *value = self.insert_into_header(&SecretPlace::Header(name.clone()), value)?;
        }
        Ok(())
    }

    /// Inserts secrets into a body while it is streamed.
    pub(crate) fn insert_into_body(&self, body: WasiBody) -> WasiBody {
        replaced(body, SecretStream::new(self.clone(), SecretPlace::Body))
    }

    fn insert_into_header(&self, place: &SecretPlace, value: &HeaderValue) -> Result<HeaderValue, Error> {
        let bytes = match self.insert_into_basic(place, value.as_bytes())? {
            Some(bytes) => bytes,
            None => self.insert(place, value.as_bytes())?,
        };
        if bytes == value.as_bytes() {
            return Ok(value.clone());
        }
        let mut value = HeaderValue::from_bytes(&bytes).map_err(|_| {
            Error::InternalError(Some(
                "a secret contains a line break or another character that is not allowed in a header".to_owned(),
            ))
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Inserts secrets into `Basic` credentials. The credentials are base64 of `user:password`. A placeholder is not
    /// visible in base64, so the credentials are decoded, replaced and encoded again. Returns `None` if the value has
    /// no such credentials, or if the credentials contain no placeholder.
    fn insert_into_basic(&self, place: &SecretPlace, value: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some((scheme, credentials)) = value.split_at_checked(6) else { return Ok(None) };
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return Ok(None);
        }
        let Ok(plain) = BASE64.decode(credentials.trim_ascii()) else { return Ok(None) };
        let inserted = self.insert(place, &plain)?;
        Ok((inserted != plain).then(|| [scheme, BASE64.encode(inserted).as_bytes()].concat()))
    }

    fn insert(&self, place: &SecretPlace, text: &[u8]) -> Result<Vec<u8>, Error> {
        let mut stream = SecretStream::new(self.clone(), place.clone());
        let mut bytes = stream.push(text)?;
        bytes.extend(stream.finish()?);
        Ok(bytes)
    }

    /// Returns the secret of a placeholder. Returns `None` if the call has no such placeholder.
    fn secret_at(&self, place: &SecretPlace, placeholder: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some((name, value)) = self.placeholders.resolve(placeholder) else { return Ok(None) };
        check_bound_secret(&self.settings.grants, &self.matched, &name, place).map_err(|denied| {
            denied.record(&self.watch, &self.settings.name);
            Error::HttpRequestDenied
        })?;
        Ok(Some(value))
    }
}

/// Inserts secrets into a stream of bytes.
struct SecretStream {
    insertion: SecretInsertion,
    place: SecretPlace,
    /// Possible start of a placeholder.
    held: Vec<u8>,
}

impl SecretStream {
    fn new(insertion: SecretInsertion, place: SecretPlace) -> Self {
        Self { insertion, place, held: Vec::new() }
    }
}

impl StreamReplacer for SecretStream {
    fn push(&mut self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(piece);
        let mut output = Vec::with_capacity(input.len());
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            let seen = rest.len().min(PREFIX.len());
            if rest[..seen] == PREFIX[..seen] {
                if rest.len() < LEN {
                    self.held = rest.to_vec();
                    break;
                }
                if let Some(value) = self.insertion.secret_at(&self.place, &rest[..LEN])? {
                    output.extend(value);
                    at += LEN;
                    continue;
                }
            }
            output.push(rest[0]);
            at += 1;
        }
        Ok(output)
    }

    /// Returns the bytes that were held back. These bytes are not a complete placeholder.
    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(std::mem::take(&mut self.held))
    }

    fn trailers(&self, trailers: &mut HeaderMap) -> Result<(), Error> {
        self.insertion.insert_into_headers(trailers)
    }

    fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{AUTHORIZATION, HeaderName};
    use proptest::prelude::*;

    use super::*;
    use crate::capability::grants::{Grants, Origin};
    use crate::capability::settings::settings_with;
    use crate::os::Machine;

    /// Returns the insertion for a request to `url`, whose grant binds the secrets A and B to these places.
    fn insertion(url: &str, places: &[SecretPlace]) -> SecretInsertion {
        let (scheme, host) = url.split_once("://").unwrap();
        let origin = Origin { scheme: scheme.into(), host: host.into(), port: 443 };
        let grant = HttpGrant {
            secrets: vec!["A".into(), "B".into()],
            secret_places: places.to_vec(),
            is_address_only: false,
            ..HttpGrant::read_only(origin)
        };
        let machine = Machine::system();
        SecretInsertion {
            placeholders: Placeholders::new(machine.clone()),
            settings: Arc::new(settings_with(Grants { http: vec![grant.clone()], ..Grants::default() })),
            matched: Arc::new([grant]),
            watch: CallWindow::with_timeout_ms(machine, 60_000),
        }
    }

    fn authorization() -> SecretPlace {
        SecretPlace::Header(AUTHORIZATION)
    }

    fn bound() -> SecretInsertion {
        insertion("https://a.example", &[authorization(), SecretPlace::Body])
    }

    fn in_header(insertion: &SecretInsertion, text: &str) -> Result<HeaderValue, Error> {
        insertion.insert_into_header(&authorization(), &HeaderValue::from_str(text).unwrap())
    }

    fn in_body(insertion: &SecretInsertion, pieces: &[&[u8]]) -> Result<Vec<u8>, Error> {
        let mut stream = SecretStream::new(insertion.clone(), SecretPlace::Body);
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(stream.push(piece)?);
        }
        all.extend(stream.finish()?);
        Ok(all)
    }

    #[test]
    fn placeholder_is_stable_per_secret_and_unknown_ones_are_unchanged() {
        let bound = bound();
        let a = bound.placeholders.hand_out("A", "alpha".into());
        assert_eq!(a, bound.placeholders.hand_out("A", "alpha".into()));
        assert_eq!(a.len(), LEN);
        let foreign = format!("latch-secret-{}", "0".repeat(32));
        assert_eq!(in_body(&bound, &[foreign.as_bytes()]).unwrap(), foreign.as_bytes());
        let header = in_header(&bound, &format!("Bearer {a}")).unwrap();
        assert_eq!(header.as_bytes(), b"Bearer alpha");
        assert!(header.is_sensitive());
        let broken = bound.placeholders.hand_out("B", "two\nlines".into());
        assert!(in_header(&bound, &broken).is_err());
    }

    /// I200. No grant binds a secret to an address, not even that of a check without configuration.
    #[test]
    fn placeholder_in_an_address_refuses_the_request() {
        let insertion = insertion("https://a.example", &[SecretPlace::Anywhere]);
        let a = insertion.placeholders.hand_out("A", "the value".into());
        let foreign = format!("latch-secret-{}", "0".repeat(32));
        for (address, is_sent) in [
            ("https://a.example/v1/latch-secret-/search?key=1".to_owned(), true),
            (format!("https://a.example/?key={foreign}"), true),
            (format!("https://a.example/?key={a}"), false),
            (format!("https://a.example/{a}/x"), false),
        ] {
            assert_eq!(insertion.check_address(&address.parse().unwrap()).is_ok(), is_sent, "{address}");
        }
        let denied = insertion.watch.hindrances().denied.unwrap().1;
        assert!(denied.contains("\"A\"") && denied.contains("in a header or in the body"), "{denied}");
    }

    /// I200. A secret goes only to the places of its grant, and never unencrypted to another machine. A placeholder at
    /// another place refuses the request.
    #[test]
    fn secret_is_sent_only_where_a_grant_binds_it() {
        let key = SecretPlace::Header(HeaderName::from_static("x-key"));
        for (url, places, sent) in [
            ("https://a.example", vec![authorization()], [true, false, false]),
            ("https://a.example", vec![key.clone()], [false, true, false]),
            ("https://a.example", vec![SecretPlace::Body], [false, false, true]),
            ("https://a.example", vec![SecretPlace::Anywhere], [true, true, true]),
            ("http://127.0.0.1", vec![SecretPlace::Body], [false, false, true]),
            ("http://a.example", vec![authorization(), key.clone(), SecretPlace::Body], [false, false, false]),
            ("http://10.0.0.1", vec![authorization(), SecretPlace::Body], [false, false, false]),
        ] {
            let insertion = insertion(url, &places);
            let a = insertion.placeholders.hand_out("A", "the value".into());
            let other = insertion.placeholders.hand_out("C", "not granted here".into());
            for (place, is_sent) in [authorization(), key.clone(), SecretPlace::Body].iter().zip(sent) {
                assert_eq!(insertion.insert(place, a.as_bytes()).is_ok(), is_sent, "{url} {places:?} {place:?}");
                assert!(insertion.insert(place, other.as_bytes()).is_err(), "{url} {places:?} {place:?}");
                let denied = insertion.watch.hindrances().denied.unwrap().1;
                assert!(denied.contains("\"C\""), "{denied}");
            }
        }
    }

    /// I13: a guest uses a placeholder as the password in `Basic` credentials. The placeholder must be replaced.
    #[test]
    fn placeholder_in_basic_credentials_is_replaced() {
        let bound = bound();
        let secret = bound.placeholders.hand_out("A", "pass:wörd".into());
        let header = |text: String| in_header(&bound, &text).unwrap();
        let sent = header(format!("Basic {}", BASE64.encode(format!("me:{secret}"))));
        assert_eq!(sent.as_bytes(), format!("Basic {}", BASE64.encode("me:pass:wörd")).as_bytes());
        assert!(sent.is_sensitive());
        let sent = header(format!("basic {}", BASE64.encode(&secret)));
        assert_eq!(sent.as_bytes(), format!("basic {}", BASE64.encode("pass:wörd")).as_bytes());
        for other in [format!("Basic {}", BASE64.encode("me:mine")), "Basic not base64!".into(), "Basic".into()] {
            assert_eq!(header(other.clone()).as_bytes(), other.as_bytes(), "unchanged");
        }
        let broken = bound.placeholders.hand_out("B", "two\nlines".into());
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
            let bound = bound();
            let a = bound.placeholders.hand_out("A", "the first".into());
            let b = bound.placeholders.hand_out("B", String::new());
            let text: String = parts.iter().map(|part| match part.as_str() {
                "A" => a.as_str(), "B" => b.as_str(), other => other,
            }).collect();
            let wanted = text.replace(&a, "the first").replace(&b, "");
            let mut cuts: Vec<_> = cuts.into_iter().map(|offset| offset.min(text.len())).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]).collect();
            prop_assert_eq!(String::from_utf8(in_body(&bound, &pieces).unwrap()).unwrap(), wanted);
        }
    }
}
