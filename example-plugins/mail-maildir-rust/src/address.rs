//! Mail addresses, validated strictly for sending.

use std::fmt;

use crate::message::encode;

/// A mail address with an optional name: `Ada Lovelace <ada@example.org>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    name: Option<String>,
    mailbox: String,
}

impl Address {
    /// Parses `ada@example.org`, `<ada@example.org>` or `Ada <ada@example.org>`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("contains a line break or another control character".into());
        }
        let text = text.trim();
        let (name, mailbox) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
            Some((name, mailbox)) => (name.trim().trim_matches('"').trim(), mailbox.trim()),
            None => ("", text),
        };
        if name.contains(['<', '>', '"', '\\']) {
            return Err(format!("{text} is not a single address"));
        }
        check(mailbox)?;
        Ok(Self { name: (!name.is_empty()).then(|| name.to_owned()), mailbox: mailbox.to_owned() })
    }
}

fn check(mailbox: &str) -> Result<(), String> {
    let not = |why: &str| Err(format!("{mailbox:?} is not a mail address: {why}"));
    if mailbox.len() > 254 {
        return not("it is longer than 254 characters");
    }
    let Some((local, domain)) = mailbox.rsplit_once('@') else { return not("it has no @") };
    let atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    if local.len() > 64 || local.split('.').any(|part| part.is_empty() || !part.chars().all(atom)) {
        return not("the part before the @ is invalid");
    }
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    if !domain.contains('.') || !domain.split('.').all(label) {
        return not("the part after the @ is invalid");
    }
    Ok(())
}

/// Formats the address for a header.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            None => f.write_str(&self.mailbox),
            Some(name) if name.is_ascii() => write!(f, "\"{name}\" <{}>", self.mailbox),
            Some(name) => write!(f, "{} <{}>", encode(name), self.mailbox),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_name() {
        let header = |text| Address::parse(text).map(|address| address.to_string());
        assert_eq!(header(" ada@example.org ").unwrap(), "ada@example.org");
        assert_eq!(header("<ada@example.org>").unwrap(), "ada@example.org");
        assert_eq!(header("Ada King <ada@example.org>").unwrap(), "\"Ada King\" <ada@example.org>");
        assert_eq!(header("Zoë <zoe@example.org>").unwrap(), "=?UTF-8?B?Wm/Dqw==?= <zoe@example.org>");
    }

    #[test]
    fn invalid_addresses_are_rejected() {
        for bad in [
            "",
            "ada",
            "ada@",
            "@example.org",
            "ada@localhost",
            "ada..king@example.org",
            "ada@-example.org",
            "ada king@example.org",
            "ada@example.org, eve@example.org",
            "ada@example.org\r\nBcc: eve@example.org",
            "A <b@example.org> <c@example.org>",
        ] {
            assert!(Address::parse(bad).is_err(), "{bad:?}");
        }
    }
}
