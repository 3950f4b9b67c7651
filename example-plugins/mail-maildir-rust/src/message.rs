//! Messages in the format of RFC 5322.

use latchwork_guest::clock::Timestamp;

use crate::address::Address;

/// A validated message.
#[derive(Debug)]
pub struct Message {
    pub from: Address,
    pub to: Vec<Address>,
    pub subject: String,
    pub body: String,
    pub message_id: String,
}

/// Returns the Message-ID of the call with this external key.
pub fn id(key: &str) -> String {
    let local: String = key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '.' }).collect();
    format!("<{}@latchwork.invalid>", local.trim_matches('.'))
}

/// Validates a subject and trims it. A valid subject is one line of at most 900 bytes.
pub fn subject(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("contains a line break or another control character".into());
    }
    match text.trim() {
        "" => Err("is empty".into()),
        text if text.len() > 900 => Err("is longer than 900 bytes".into()),
        text => Ok(text.to_owned()),
    }
}

impl Message {
    /// Formats the message as file content, with CR LF line ends.
    pub fn to_bytes(&self, date: Timestamp) -> Vec<u8> {
        let to: Vec<String> = self.to.iter().map(Address::to_string).collect();
        let mut text = format!(
            "From: {}\r\nTo: {}\r\nSubject: {}\r\nDate: {}\r\nMessage-ID: {}\r\nMIME-Version: 1.0\r\n\
             Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n",
            self.from,
            to.join(",\r\n "),
            header_text(&self.subject),
            date.rfc2822(),
            self.message_id,
        );
        quoted_printable(&self.body, &mut text);
        text.into_bytes()
    }
}

fn header_text(text: &str) -> String {
    if text.is_ascii() && text.len() <= 900 && !text.contains("=?") { text.to_owned() } else { encode(text) }
}

/// Encodes a header text as encoded words (RFC 2047), each short enough for a line.
pub fn encode(text: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > 45 {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words: Vec<String> = words.iter().map(|word| format!("=?UTF-8?B?{}?=", base64(word.as_bytes()))).collect();
    words.join("\r\n ")
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let block = u32::from(chunk[0]) << 16
            | u32::from(*chunk.get(1).unwrap_or(&0)) << 8
            | u32::from(*chunk.get(2).unwrap_or(&0));
        for i in 0..4 {
            let digit = DIGITS[(block >> (18 - 6 * i) & 63) as usize];
            text.push(if i > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Appends the body as quoted-printable text (RFC 2045), with lines of at most 76 characters.
fn quoted_printable(body: &str, text: &mut String) {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let body = body.strip_suffix('\n').unwrap_or(&body);
    for line in body.split('\n') {
        let mut column = 0;
        for (i, byte) in line.bytes().enumerate() {
            let last = i + 1 == line.len();
            let plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') || matches!(byte, b' ' | b'\t') && !last;
            let width = if plain { 1 } else { 3 };
            if column + width > 75 {
                text.push_str("=\r\n");
                column = 0;
            }
            if plain {
                text.push(char::from(byte))
            } else {
                text.push_str(&format!("={byte:02X}"))
            }
            column += width;
        }
        text.push_str("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> String {
        let mut out = String::new();
        quoted_printable(text, &mut out);
        out
    }

    #[test]
    fn bodies_are_quoted_printable() {
        assert_eq!(body("Hello\nWorld \n"), "Hello\r\nWorld=20\r\n");
        assert_eq!(body("caf\u{e9} = 1"), "caf=C3=A9 =3D 1\r\n");
        let long = body(&"x".repeat(200));
        assert!(long.lines().all(|line| line.len() <= 76), "{long}");
        assert_eq!(long.replace("=\r\n", ""), format!("{}\r\n", "x".repeat(200)));
    }

    #[test]
    fn base64_of_every_length() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_subject_is_one_line() {
        assert!(subject("Hello\r\nBcc: eve@example.org").is_err());
        assert!(subject("  ").is_err());
        assert_eq!(subject(" Hello ").unwrap(), "Hello");
    }

    #[test]
    fn message_id_derives_from_the_external_key() {
        assert_eq!(id("latch:job_01J:s6:1"), "<latch.job_01J.s6.1@latchwork.invalid>");
        assert_eq!(id("latch:job_01J:s3/0:1"), "<latch.job_01J.s3.0.1@latchwork.invalid>");
    }
}
