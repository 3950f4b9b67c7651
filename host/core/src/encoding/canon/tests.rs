use proptest::prelude::*;
use serde_json::json;

use crate::encoding::canon::*;

fn canonical(text: &str) -> String {
    let bytes = canonicalize(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    String::from_utf8(bytes).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> (usize, CanonErrorKind) {
    let text = text.as_ref();
    let error = canonicalize(text).expect_err(&String::from_utf8_lossy(text));
    (error.offset, error.refusal)
}

// The sample of RFC 8785, section 3.2.2, gets the canonical form that the RFC states.
#[test]
fn rfc8785_sample_is_canonicalized() {
    let text = r#"{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"#;
    assert_eq!(
        canonical(text),
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
}

// The sample of RFC 8785, section 3.2.3, shows that keys are sorted by UTF-16 code units.
#[test]
fn keys_are_sorted_as_in_rfc8785() {
    let text = r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}"#;
    let expected = [
        ("\\r", "Carriage Return"),
        ("1", "One"),
        ("\u{80}", "Control"),
        ("ö", "Latin Small Letter O With Diaeresis"),
        ("€", "Euro Sign"),
        ("😀", "Emoji: Grinning Face"),
        ("\u{fb33}", "Hebrew Letter Dalet With Dagesh"),
    ]
    .map(|(key, value)| format!("\"{key}\":\"{value}\""))
    .join(",");
    assert_eq!(canonical(text), format!("{{{expected}}}"));
}

// The numbers of RFC 8785, appendix B, get the canonical form that the RFC states. NaN and Infinity are left
// out because JSON cannot express them.
#[test]
fn numbers_are_written_as_in_rfc8785() {
    let table = [
        (0x0000000000000000, "0"),
        (0x8000000000000000, "0"),
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7fefffffffffffff, "1.7976931348623157e+308"),
        (0xffefffffffffffff, "-1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0xc340000000000000, "-9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44b52d02c7e14af5, "9.999999999999997e+22"),
        (0x44b52d02c7e14af6, "1e+23"),
        (0x44b52d02c7e14af7, "1.0000000000000001e+23"),
        (0x444b1ae4d6e2ef4e, "999999999999999700000"),
        (0x444b1ae4d6e2ef4f, "999999999999999900000"),
        (0x444b1ae4d6e2ef50, "1e+21"),
        (0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"),
        (0x3eb0c6f7a0b5ed8d, "0.000001"),
        (0x41b3de4355555553, "333333333.3333332"),
        (0x41b3de4355555554, "333333333.33333325"),
        (0x41b3de4355555555, "333333333.3333333"),
        (0x41b3de4355555556, "333333333.3333334"),
        (0x41b3de4355555557, "333333333.33333343"),
        (0xbecbf647612f3696, "-0.0000033333333333333333"),
        (0x43143ff3c1cb0959, "1424953923781206.2"),
    ];
    for (bits, text) in table {
        let double = f64::from_bits(bits);
        assert_eq!(value_to_canonical(&json!(double)), text.as_bytes(), "{bits:x}");
        // The number parsed from text must give the same canonical text. `{:e}` writes an exponent, so the parser
        // does not treat the text as an integer literal.
        assert_eq!(canonical(&format!("{double:e}")), text, "{bits:x}");
        assert_eq!(canonical(text), text);
    }
}

/// I185.
#[test]
fn equal_numbers_have_the_same_canonical_text() {
    for text in ["1", "1.0", "1e0", "10E-1", "0.1e+1", "1.0000000000000000001"] {
        assert_eq!(canonical(text), "1");
        assert_eq!(parse_strict(text.as_bytes()), Ok(json!(1)));
    }
    for text in ["0", "-0", "0.0", "-0.0", "-0e9", "1e-400", "-1e-400"] {
        assert_eq!(canonical(text), "0", "{text}");
        assert_eq!(parse_strict(text.as_bytes()), Ok(json!(0)), "{text}");
    }
}

#[test]
fn integers_with_an_exact_double_are_accepted() {
    for (text, expected) in [
        ("999999999999999", "999999999999999"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740994", "9007199254740994"),
        ("-9007199254740994", "-9007199254740994"),
        ("1700000000000000000", "1700000000000000000"),
        ("9223372036854775808", "9223372036854776000"),
        ("295147905179352825856", "295147905179352830000"),
        ("1000000000000000000000", "1e+21"),
        ("100000000000000000000000", "refused"),
    ] {
        match canonicalize(text.as_bytes()) {
            Ok(bytes) => assert_eq!(bytes, expected.as_bytes()),
            Err(error) => assert_eq!(expected, "refused", "{error}"),
        }
    }
    // A double holds 2^1000 exactly, although the number has about 300 digits.
    let long = format!("{:.0}", 2f64.powi(1000));
    assert_eq!(canonical(&long), "1.0715086071862673e+301");
}

/// I185.
#[test]
fn integers_between_two_doubles_are_refused() {
    for text in [
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "1000000000000000000001",
    ] {
        assert_eq!(refused(text), (0, CanonErrorKind::InexactInteger(text.to_owned())));
    }
    let long = format!("1{}", "0".repeat(199)) + "1";
    assert!(
        matches!(refused(format!("[{long}]")), (1, CanonErrorKind::InexactInteger(displayed)) if displayed.len() < 80)
    );
    // The same number with a decimal point is accepted and rounded.
    assert_eq!(canonical("9007199254740993.0"), "9007199254740992");
}

#[test]
fn numbers_beyond_a_double_are_refused() {
    for text in ["1e400", "-1e400", "1.8e308", &"9".repeat(310)] {
        assert!(matches!(refused(text), (0, CanonErrorKind::Overflow(_))), "{text}");
    }
}

/// I185.
#[test]
fn duplicate_keys_are_refused_wherever_they_are() {
    let twice = |key: &str| CanonErrorKind::DuplicateKey(key.to_owned());
    assert_eq!(refused(r#"{"a":1,"a":1}"#), (7, twice("a")));
    assert_eq!(refused(r#"[{"b":{"a":1,"c":2,"\u0061":3}}]"#), (19, twice("a")));
    assert_eq!(refused(r#"{"":1,"":2}"#), (6, twice("")));
    // Strings are not Unicode-normalized, so two encodings of one character are different keys.
    assert_eq!(canonical("{\"\u{e9}\":1,\"e\u{301}\":2}"), "{\"e\u{301}\":2,\"\u{e9}\":1}");
}

/// I190: bound `json_nesting`.
#[test]
fn depth_has_a_limit() {
    let nest = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(canonical(&nest(JSON_NESTING)), nest(JSON_NESTING));
    assert_eq!(refused(nest(JSON_NESTING + 1)), (JSON_NESTING, CanonErrorKind::TooDeep));
    assert_eq!(refused("[".repeat(1_000_000)), (JSON_NESTING, CanonErrorKind::TooDeep));
    assert_eq!(refused(r#"{"a":"#.repeat(100)).1, CanonErrorKind::TooDeep);
    // Depth counts nesting only, not siblings.
    let wide = format!("[{}]", vec!["[[]]"; 200].join(","));
    assert_eq!(canonical(&wide), wide);
}

#[test]
fn lone_surrogates_are_refused() {
    for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\ud800""#, r#""\ud800x""#, r#""\ud800\n""#, r#"{"\udfff":1}"#]
    {
        assert_eq!(refused(text).1, CanonErrorKind::LoneSurrogate, "{text}");
    }
    assert_eq!(refused(r#"["ab\ud800"]"#).0, 4);
    assert_eq!(canonical(r#""\ud83d\ude00\uD83D\uDE00""#), "\"😀😀\"");
}

#[test]
fn invalid_json_is_refused_at_its_offset() {
    for (text, offset) in [
        ("", 0),
        ("  ", 2),
        ("nul", 0),
        ("NaN", 0),
        ("Infinity", 0),
        ("-Infinity", 1),
        ("-", 1),
        ("+1", 0),
        ("01", 1),
        ("-01", 2),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+-5", 3),
        ("0x10", 1),
        ("1 2", 2),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("[1", 2),
        ("{", 1),
        ("{a:1}", 1),
        ("{'a':1}", 1),
        (r#"{"a"}"#, 4),
        (r#"{"a":}"#, 5),
        (r#"{"a":1,}"#, 7),
        (r#"{"a":1 "b":2}"#, 7),
        (r#""abc"#, 4),
        (r#""\x""#, 1),
        (r#""\u12""#, 3),
        (r#""\u+123""#, 3),
        (r#""\"#, 2),
        ("\"\n\"", 1),
        ("\"\0\"", 1),
        ("// no\n1", 0),
        ("\u{feff}1", 0),
        ("[1]]", 3),
    ] {
        let (at, refusal) = refused(text);
        assert!(matches!(refusal, CanonErrorKind::Syntax(_)), "{text}: {refusal}");
        assert_eq!(at, offset, "{text}: {refusal}");
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
    assert_eq!(refused(b"\"\xff\""), (1, CanonErrorKind::Utf8));
    assert_eq!(refused(b"\"\xed\xa0\x80\""), (1, CanonErrorKind::Utf8));
}

#[test]
fn strings_are_escaped_only_where_required() {
    assert_eq!(canonical(r#""\u007f\u2028\/\u00e9\ufffe""#), "\"\u{7f}\u{2028}/é\u{fffe}\"");
    assert_eq!(canonical(r#""\u0008\u0009\u000A\u000c\u000d\u0000\u001F\u001b""#), r#""\b\t\n\f\r\u0000\u001f\u001b""#);
}

#[test]
fn whitespace_is_removed_and_empty_values_are_kept() {
    assert_eq!(canonical(" \t\r\n{ \"a\" : [ ] , \"b\" : { } , \"c\" : \"\" } \n"), r#"{"a":[],"b":{},"c":""}"#);
}

#[test]
fn a_refusal_has_a_line_and_a_column() {
    let text = "{\n  \"é\": 1,\n  \"é\": 2, oops\n}".as_bytes();
    assert_eq!(canonicalize(text).unwrap_err().line_column(text), (3, 3));
    let text = "[\"é\", x]".as_bytes();
    assert_eq!(canonicalize(text).unwrap_err().line_column(text), (1, 7));
    assert_eq!(canonicalize(b"").unwrap_err().line_column(b""), (1, 1));
}

#[test]
fn values_built_in_code_are_checked_like_parsed_ones() {
    assert_eq!(check_value(&json!({"a": [1, 2.5, "x", null, 1e300]})), Ok(()));
    assert_eq!(
        check_value(&json!([9_007_199_254_740_993_u64])),
        Err(CanonErrorKind::InexactInteger("9007199254740993".to_owned()))
    );
    assert_eq!(check_value(&json!(i64::MIN)), Ok(()));
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
    assert_eq!(check_value(&deep(JSON_NESTING)), Ok(()));
    assert_eq!(check_value(&deep(JSON_NESTING + 1)), Err(CanonErrorKind::TooDeep));
}

fn any_string() -> impl Strategy<Value = String> {
    let any_char = prop_oneof![4 => any::<char>(), 1 => (0u32..0x80).prop_map(|c| char::from_u32(c).unwrap()),
        1 => prop::sample::select(vec!['\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}'])];
    prop::collection::vec(any_char, 0..6).prop_map(String::from_iter)
}

fn any_json() -> impl Strategy<Value = Value> {
    let double = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |double| double.is_finite());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        double.prop_map(|double| json!(double)),
        (-1e25..1e25f64).prop_map(|double| json!(double.trunc())),
        any::<i32>().prop_map(|integer| json!(integer)),
        any_string().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((any_string(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Writes a value in a non-canonical way: escaped strings, reversed keys, exponents and extra whitespace.
fn written_differently(value: &Value) -> String {
    let string = |text: &str| {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("\"{units}\"")
    };
    match value {
        Value::Number(number) => format!(" {:E} ", number.as_f64().unwrap()),
        Value::String(text) => string(text),
        Value::Array(items) => format!("[\n{}]", items.iter().map(written_differently).collect::<Vec<_>>().join(" ,")),
        Value::Object(fields) => {
            let fields =
                fields.iter().rev().map(|(key, field)| format!("{} : {}", string(key), written_differently(field)));
            format!("{{\t{}}}", fields.collect::<Vec<_>>().join(",\r\n"))
        }
        other => other.to_string(),
    }
}

proptest! {
    #[test]
    fn canonicalization_is_idempotent(value in any_json()) {
        let once = value_to_canonical(&value);
        prop_assert_eq!(&canonicalize(&once).unwrap(), &once);
        prop_assert_eq!(value_to_canonical(&parse_strict(&once).unwrap()), once);
    }

    #[test]
    fn formatting_does_not_change_the_canonical_text(value in any_json()) {
        let once = value_to_canonical(&value);
        let other = written_differently(&value);
        prop_assert_eq!(parse_strict(&once).unwrap(), parse_strict(other.as_bytes()).unwrap());
        prop_assert_eq!(canonicalize(other.as_bytes()).unwrap(), once);
    }

    #[test]
    fn keys_are_in_the_order_of_utf16(a in any_string(), b in any_string()) {
        let text = String::from_utf8(value_to_canonical(&json!({ a.clone(): 1, b.clone(): 1 }))).unwrap();
        let keys: Vec<String> = [&a, &b].map(|key| String::from_utf8(value_to_canonical(&json!(key))).unwrap()).into();
        let first = usize::from(a.encode_utf16().gt(b.encode_utf16()));
        let start = format!("{{{}:1", keys[first]);
        prop_assert!(text.starts_with(&start));
    }

    #[test]
    fn serde_json_accepts_every_accepted_text(text in r#"[\[\]{}",:0-9eE.+\-\\ua-f nultrs]{0,24}"#) {
        if let Ok(value) = parse_strict(text.as_bytes()) {
            let theirs: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(value_to_canonical(&value), value_to_canonical(&theirs));
        }
    }

    #[test]
    fn parser_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = canonicalize(&bytes) {
            prop_assert!(error.offset <= bytes.len());
            error.line_column(&bytes);
        }
    }

    #[test]
    fn serde_json_agrees_about_damaged_text(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = value_to_canonical(&value);
        let at = at.index(text.len());
        text[at] = byte;
        let theirs = serde_json::from_slice::<Value>(&text);
        match parse_strict(&text) {
            Ok(ours) => prop_assert_eq!(value_to_canonical(&ours), value_to_canonical(&theirs.unwrap())),
            Err(CanonError {
                refusal: CanonErrorKind::Syntax(_) | CanonErrorKind::Utf8 | CanonErrorKind::LoneSurrogate, ..
            }) => prop_assert!(theirs.is_err()),
            Err(_) => {}
        }
    }
}
