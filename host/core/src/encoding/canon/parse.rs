//! JSON parser that tracks its position and refuses ambiguous texts.

use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::encoding::canon::{CanonError, CanonErrorKind, JSON_NESTING, number};

type Parsed<T> = Result<T, CanonError>;

/// Parser of one JSON text, with its current position.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    depth_max: usize,
    /// Refusals collected in tolerant mode. `None` if the first refusal ends the parsing.
    tolerated: Option<Vec<CanonError>>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, depth_max: JSON_NESTING, tolerated: None }
    }

    /// Raises the depth limit by `levels`, for a text that contains a value of the maximum depth inside another
    /// value.
    pub(super) fn with_extra_depth(self, levels: usize) -> Self {
        Self { depth_max: self.depth_max + levels, ..self }
    }

    /// Parses the whole text as one value and tolerates some errors.
    ///
    /// Duplicate keys and numbers without a canonical form are collected and returned. The first of two
    /// duplicate keys is kept. A number is replaced by the nearest double, or by 0 if it is too large.
    pub(super) fn tolerant(text: &'a str) -> Parsed<(Value, Vec<CanonError>)> {
        let mut parser = Self { tolerated: Some(Vec::new()), ..Self::new(text) };
        let value = parser.whole_text()?;
        Ok((value, parser.tolerated.unwrap_or_default()))
    }

    /// Parses the whole text as one value.
    pub(super) fn document(mut self) -> Parsed<Value> {
        self.whole_text()
    }

    fn whole_text(&mut self) -> Parsed<Value> {
        let value = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => self.syntax("expected the end of the text"),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn refuse<T>(&self, offset: usize, refusal: CanonErrorKind) -> Parsed<T> {
        Err(CanonError { offset, refusal })
    }

    /// Returns the refusal as an error. In tolerant mode, collects the refusal and returns `instead`.
    fn tolerate<T>(&mut self, offset: usize, refusal: CanonErrorKind, instead: T) -> Parsed<T> {
        match &mut self.tolerated {
            Some(passed) => {
                passed.push(CanonError { offset, refusal });
                Ok(instead)
            }
            None => self.refuse(offset, refusal),
        }
    }

    fn syntax<T>(&self, message: &'static str) -> Parsed<T> {
        self.refuse(self.at, CanonErrorKind::Syntax(message))
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Consumes the next byte if it is `byte`. Returns true if a byte was consumed.
    fn consume(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Parsed<Value> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.keyword("true", Value::Bool(true)),
            Some(b'f') => self.keyword("false", Value::Bool(false)),
            Some(b'n') => self.keyword("null", Value::Null),
            Some(_) => self.syntax("expected a JSON value"),
            None => self.syntax("the text ends where a JSON value should be"),
        }
    }

    fn keyword(&mut self, word: &str, value: Value) -> Parsed<Value> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.syntax("expected a JSON value");
        }
        self.at += word.len();
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Parsed<Value>) -> Parsed<Value> {
        if self.depth == self.depth_max {
            return self.refuse(self.at, CanonErrorKind::TooDeep);
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Parsed<Value> {
        let mut items = Vec::new();
        self.skip_space();
        if self.consume(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            if self.consume(b']') {
                return Ok(Value::Array(items));
            }
            if !self.consume(b',') {
                return self.syntax("expected `,` or `]`");
            }
        }
    }

    fn object(&mut self) -> Parsed<Value> {
        let mut fields = Map::new();
        self.skip_space();
        if self.consume(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.skip_space();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return self.syntax("expected a key in double quotes");
            }
            let key = self.string()?;
            self.skip_space();
            if !self.consume(b':') {
                return self.syntax("expected `:` after the key");
            }
            match fields.entry(key) {
                Entry::Occupied(entry) => {
                    let refusal = CanonErrorKind::DuplicateKey(entry.key().clone());
                    self.tolerate(key_at, refusal, ())?;
                    self.value()?;
                }
                Entry::Vacant(entry) => {
                    entry.insert(self.value()?);
                }
            }
            self.skip_space();
            if self.consume(b'}') {
                return Ok(Value::Object(fields));
            }
            if !self.consume(b',') {
                return self.syntax("expected `,` or `}`");
            }
        }
    }

    fn number(&mut self) -> Parsed<Number> {
        let start = self.at;
        self.consume(b'-');
        if !self.consume(b'0') {
            self.digits()?;
        } else if let Some(b'0'..=b'9') = self.peek() {
            return self.syntax("a number does not start with 0");
        }
        let mut is_integer = true;
        if self.consume(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            is_integer = false;
            self.at += 1;
            if !self.consume(b'+') {
                self.consume(b'-');
            }
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        number::from_literal(literal, is_integer).or_else(|refusal| {
            let nearest = literal.parse::<f64>().ok().and_then(Number::from_f64);
            self.tolerate(start, refusal, nearest.unwrap_or_else(|| Number::from(0)))
        })
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.syntax("expected a digit") } else { Ok(()) }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while let Some(byte) = self.peek() {
                if byte < 0x20 || byte == b'"' || byte == b'\\' {
                    break;
                }
                self.at += 1;
            }
            text.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.syntax("a control character in a string must be escaped"),
                None => return self.syntax("the text ends inside a string"),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.at += 1;
        let Some(kind) = self.peek() else { return self.syntax("the text ends inside a string") };
        self.at += 1;
        Ok(match kind {
            b'"' | b'\\' | b'/' => kind.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(start),
            _ => return self.refuse(start, CanonErrorKind::Syntax("unknown escape in a string")),
        })
    }

    /// Reads the digits after `\u`, and the second escape if the first is half of a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        let first = self.four_digits()?;
        if let Some(char) = char::from_u32(first.into()) {
            return Ok(char);
        }
        let mut units = vec![first];
        if self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            self.at += 2;
            units.push(self.four_digits()?);
        }
        // Half of a surrogate pair decodes to no character.
        match char::decode_utf16(units).next() {
            Some(Ok(char)) => Ok(char),
            _ => self.refuse(start, CanonErrorKind::LoneSurrogate),
        }
    }

    fn four_digits(&mut self) -> Parsed<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return self.syntax("expected four hexadecimal digits after \\u") };
        self.at += 4;
        Ok(digits.iter().fold(0, |unit, digit| {
            let digit = char::from(*digit).to_digit(16).expect("tried above");
            (unit << 4) | digit as u16
        }))
    }
}
