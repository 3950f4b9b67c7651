//! HTTP headers sent by the host itself, with secrets in them: `{ Authorization = "Bearer ${API_TOKEN}" }`.

use hyper::header::{HeaderName, HeaderValue};

use latchwork_engine::capability::Secrets;
use latchwork_engine::capability::grants::{Grants, HttpGrant, SecretPlace};

use crate::located_toml::TableReader;

/// Headers that the host sets itself.
pub(super) const OWN_HEADERS: [&str; 5] = ["host", "content-length", "content-type", "connection", "transfer-encoding"];

/// Template of one header. Each `${NAME}` in the template is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderTemplate {
    name: HeaderName,
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Secret(String),
}

impl HeaderTemplate {
    /// Parses a header template. The error is a message for the user.
    fn parse(name: &str, text: &str) -> Result<HeaderTemplate, String> {
        let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is not a valid header name"))?;
        if OWN_HEADERS.contains(&name.as_str()) {
            return Err(format!("`{name}` is set by the host"));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (secret, behind) = after.split_once('}').ok_or("`${` without `}`")?;
            let fits = !secret.is_empty() && secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !fits {
                return Err("invalid secret name in `${}`: use letters, digits and `_`".to_owned());
            }
            parts.push(TemplatePart::Text(before.to_owned()));
            parts.push(TemplatePart::Secret(secret.to_owned()));
            rest = behind;
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        let clean = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => HeaderValue::from_str(text).is_ok(),
            TemplatePart::Secret(_) => true,
        };
        if !parts.iter().all(clean) {
            return Err(
                "the value contains a line break or another character that is not allowed in a header".to_owned()
            );
        }
        Ok(HeaderTemplate { name, parts })
    }

    /// Returns the names of the secrets in the template.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Secret(name) => Some(name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    /// Returns true if the grant binds the secret to this header.
    fn is_bound(&self, grant: &HttpGrant, secret: &str) -> bool {
        grant.secrets.iter().any(|name| name == secret)
            && grant.secret_places.contains(&SecretPlace::Header(self.name.clone()))
    }

    /// Returns true if these grants together bind all secrets of the template to its header.
    pub fn is_bound_by(&self, grants: &[&HttpGrant]) -> bool {
        self.secrets().all(|secret| grants.iter().any(|grant| self.is_bound(grant, secret)))
    }

    /// Returns the header with its secrets filled in.
    ///
    /// # Errors
    /// A secret has no value, or its value is not valid in a header. The message does not contain the secret.
    pub fn render(&self, secrets: &dyn Secrets) -> Result<(HeaderName, HeaderValue), String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Secret(name) => {
                    text.push_str(&secrets.value(name).ok_or_else(|| format!("the secret {name} has no value"))?);
                }
            }
        }
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| format!("the header {} cannot hold the secret in it", self.name))?;
        value.set_sensitive(true);
        Ok((self.name.clone(), value))
    }
}

/// Reads the headers of a table. `grants` must bind each secret to its header. `None` allows any secret.
pub(super) fn read(mut table: TableReader<'_>, grants: Option<&Grants>) -> Vec<HeaderTemplate> {
    let mut headers = Vec::new();
    for (name, field) in table.entries() {
        let Some(header) = field.parse(|text| HeaderTemplate::parse(name, text)) else { continue };
        let is_bound = |grants: &Grants, secret: &str| grants.http.iter().any(|grant| header.is_bound(grant, secret));
        let missing = grants.and_then(|grants| header.secrets().find(|name| !is_bound(grants, name)));
        if let Some(missing) = missing {
            let name = &header.name;
            field.invalid::<()>(format!(
                "no grant binds the secret {missing} to the header `{name}`: add it to a server in `grants.http`, such as \
                 {{ url = \"https://api.example.com\", secrets = [\"{missing}\"], in = [\"header:{name}\"] }}"
            ));
            continue;
        }
        headers.push(header);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One;

    impl Secrets for One {
        fn value(&self, name: &str) -> Option<String> {
            match name {
                "TOKEN" => Some("hunter2".into()),
                "BROKEN" => Some("a\nb".into()),
                _ => None,
            }
        }
    }

    /// I13: secrets are inserted only when the header is sent, and no message repeats a secret.
    #[test]
    fn secrets_are_inserted_only_when_sent() {
        let header = |text| HeaderTemplate::parse("Authorization", text);
        let good = header("Bearer ${TOKEN}!").unwrap();
        let (name, value) = good.render(&One).unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("authorization", "Bearer hunter2!"));
        assert!(value.is_sensitive() && !format!("{good:?} {value:?}").contains("hunter2"));
        assert_eq!(good.secrets().collect::<Vec<_>>(), ["TOKEN"]);
        assert!(header("${NONE}").unwrap().render(&One).unwrap_err().contains("NONE"));
        assert!(!header("${BROKEN}").unwrap().render(&One).unwrap_err().contains('\n'));
        for wrong in ["${TOKEN", "${not a name}", "${}", "a\nb"] {
            assert!(header(wrong).is_err(), "{wrong}");
        }
        assert!(HeaderTemplate::parse("Host", "x").is_err() && HeaderTemplate::parse("no name", "x").is_err());
    }
}
