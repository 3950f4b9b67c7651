//! Tests of the conversion from and to JSON, compared with the published schemas.

use proptest::prelude::*;
use serde_json::{Value, json};
use wasmtime::component::Val;

use latchwork_core::encoding::canon;

use crate::engine::schema::Schemas;
use crate::engine::untyped::output;
use crate::engine::untyped::output::JsonWriteError;
use crate::engine::untyped::ty::{EXACT_MAX, FunctionSignature, Int, Ty};

const MAX: usize = 1 << 20;

fn int(signed: bool, bits: u32) -> Ty {
    Ty::Int(Int { signed, bits })
}

fn signature_of(ty: &Ty) -> FunctionSignature {
    FunctionSignature { params: vec![("p".into(), ty.clone())], result: Some(ty.clone()) }
}

/// Converts the value of a single parameter.
fn read(ty: &Ty, value: &Value) -> Result<Val, String> {
    signature_of(ty).read_arguments(&json!({ "p": value })).map(|mut values| values.remove(0))
}

fn leaf() -> impl Strategy<Value = Ty> {
    let bits = prop_oneof![Just(8u32), Just(16), Just(32), Just(64)];
    prop_oneof![
        Just(Ty::Bool),
        (any::<bool>(), bits).prop_map(|(signed, bits)| int(signed, bits)),
        Just(Ty::F32),
        Just(Ty::F64),
        Just(Ty::Char),
        Just(Ty::String),
        Just(Ty::Bytes),
        names().prop_map(Ty::Enum),
        names().prop_map(Ty::Flags),
    ]
}

/// Generates a selection of names. Some of these names also have a meaning in the JSON mapping itself.
fn names() -> impl Strategy<Value = Vec<String>> {
    let all = ["a", "b-c", "d1", "some", "ok", "err"].map(str::to_owned).to_vec();
    proptest::sample::subsequence(all, 1..=4)
}

fn ty() -> impl Strategy<Value = Ty> {
    leaf().prop_recursive(3, 16, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let maybe = proptest::option::of(boxed.clone());
        let members = (names(), proptest::collection::vec(inner.clone(), 4));
        let cases = (names(), proptest::collection::vec(proptest::option::of(inner.clone()), 4));
        prop_oneof![
            boxed.clone().prop_map(Ty::List),
            (boxed.clone(), 1u32..3).prop_map(|(item, len)| Ty::Array(item, len)),
            members.prop_map(|(names, types)| Ty::Record(names.into_iter().zip(types).collect())),
            proptest::collection::vec(inner, 1..3).prop_map(Ty::Tuple),
            cases.prop_map(|(names, types)| Ty::Variant(names.into_iter().zip(types).collect())),
            boxed.prop_map(Ty::Option),
            (maybe.clone(), maybe).prop_map(|(ok, err)| Ty::Result(ok, err)),
        ]
    })
}

/// Generates a value of the type, in the form that an answer uses.
fn value(ty: &Ty) -> BoxedStrategy<Value> {
    let maybe = |ty: &Option<Box<Ty>>| ty.as_ref().map_or_else(|| Just(Value::Null).boxed(), |ty| value(ty));
    match ty {
        Ty::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Ty::Int(int) => {
            let (min, max, wide) = (int.min(), int.max(), int.is_wide());
            let edges = prop_oneof![Just(min), Just(max), Just(0), Just(EXACT_MAX), Just(EXACT_MAX + 1), min..=max];
            let written = move |value: i128| match value.clamp(min, max) {
                value if wide && value.abs() > EXACT_MAX => json!(value.to_string()),
                value => json!(value as i64),
            };
            edges.prop_map(written).boxed()
        }
        Ty::F32 => proptest::num::f32::NORMAL.prop_map(|f| json!(f.to_string().parse::<f64>().unwrap())).boxed(),
        Ty::F64 => (proptest::num::f64::NORMAL | proptest::num::f64::ZERO).prop_map(|f| json!(f)).boxed(),
        Ty::Char => any::<char>().prop_map(|c| json!(c.to_string())).boxed(),
        Ty::String => any::<String>().prop_map(Value::from).boxed(),
        Ty::Bytes => {
            use base64::Engine;
            let text = |bytes: Vec<u8>| json!(base64::engine::general_purpose::STANDARD.encode(bytes));
            any::<Vec<u8>>().prop_map(text).boxed()
        }
        Ty::List(item) => proptest::collection::vec(value(item), 0..4).prop_map(Value::from).boxed(),
        Ty::Array(item, len) => proptest::collection::vec(value(item), *len as usize).prop_map(Value::from).boxed(),
        Ty::Tuple(items) => items.iter().map(value).collect::<Vec<_>>().prop_map(Value::from).boxed(),
        Ty::Record(fields) => {
            let names: Vec<_> = fields.iter().map(|(name, _)| name.clone()).collect();
            let values: Vec<_> = fields.iter().map(|(_, ty)| value(ty)).collect();
            values.prop_map(move |values| names.iter().cloned().zip(values).collect::<Value>()).boxed()
        }
        Ty::Variant(cases) => {
            let case = |(name, ty): &(String, Option<Ty>)| {
                let name = name.clone();
                match ty {
                    None => Just(json!(name)).boxed(),
                    Some(ty) => value(ty).prop_map(move |value| json!({ name.clone(): value })).boxed(),
                }
            };
            proptest::strategy::Union::new(cases.iter().map(case)).boxed()
        }
        Ty::Enum(names) => proptest::sample::select(names.clone()).prop_map(Value::from).boxed(),
        Ty::Option(inner) => {
            let wrap = inner.may_be_null();
            let there = value(inner).prop_map(move |value| if wrap { json!({ "some": value }) } else { value });
            prop_oneof![Just(Value::Null), there].boxed()
        }
        Ty::Result(ok, err) => {
            let ok = maybe(ok).prop_map(|value| json!({ "ok": value }));
            let err = maybe(err).prop_map(|value| json!({ "err": value }));
            prop_oneof![ok, err].boxed()
        }
        Ty::Flags(names) => proptest::sample::subsequence(names.clone(), 0..=names.len()).prop_map(Value::from).boxed(),
    }
}

/// Texts that a type barely accepts or barely refuses: numbers at their limits, bytes in base64, and names.
const EDGE_TEXTS: [&str; 28] = [
    "",
    "a",
    "ab",
    "é",
    "0",
    "-0",
    "01",
    "-1",
    "1.0",
    "+1",
    " 1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999",
    "100000000000000000000",
    "AA==",
    "AB==",
    "AA=",
    "AAAA",
    "AA",
    "AAA=",
    "AAB=",
    "some",
    "ok",
];

/// Generates values near the limits of some type.
fn edge_value() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(0),
        json!(-1),
        json!(1.0),
        json!(-0.0),
        json!(0.5),
        json!(127),
        json!(128),
        json!(-128),
        json!(-129),
        json!(255),
        json!(256),
        json!(65_535),
        json!(65_536),
        json!(4_294_967_295u32),
        json!(4_294_967_296u64),
        json!(2_147_483_648u32),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1.8446744073709552e19),
        json!(9.223_372_036_854_776e18),
        json!(-9.223_372_036_854_776e18),
        json!(1e300),
        json!(-1e300),
        json!(3.4028235677973366e38),
        json!(3.4028235677973362e38),
        json!(-3.4028235677973366e38),
    ];
    let others = [
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!([null]),
        json!({"some": null}),
        json!({"ok": null}),
        json!({"err": null}),
        json!({"ok": null, "err": null}),
        json!(["a", "a"]),
        json!(["a"]),
        json!({"x": 1}),
    ];
    let all: Vec<_> = EDGE_TEXTS.iter().map(|text| json!(text)).chain(numbers).chain(others).collect();
    proptest::sample::select(all)
}

/// Returns the value with one part replaced or removed. `at` counts the parts in reading order.
fn with_changed_part(mut value: Value, at: usize, odd: Option<Value>) -> Value {
    fn places(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(places).sum::<usize>(),
            Value::Object(members) => 1 + members.values().map(places).sum::<usize>(),
            _ => 1,
        }
    }
    fn change(value: &mut Value, at: &mut usize, odd: &Option<Value>) -> bool {
        if *at == 0 {
            match (odd, &mut *value) {
                (Some(odd), _) => *value = odd.clone(),
                (None, Value::Array(items)) => drop(items.pop()),
                (None, Value::Object(members)) => {
                    let first = members.keys().next().cloned();
                    first.and_then(|key| members.remove(&key));
                }
                (None, _) => *value = Value::Null,
            }
            return true;
        }
        *at -= 1;
        match value {
            Value::Array(items) => items.iter_mut().any(|item| change(item, at, odd)),
            Value::Object(members) => members.values_mut().any(|member| change(member, at, odd)),
            _ => false,
        }
    }
    let mut at = at % places(&value);
    change(&mut value, &mut at, &odd);
    value
}

fn typed() -> impl Strategy<Value = (Ty, Value)> {
    ty().prop_flat_map(|ty| (Just(ty.clone()), value(&ty)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// I73: a value that is converted from JSON and back is unchanged.
    #[test]
    fn value_round_trip_is_lossless((ty, value) in typed()) {
        let read = read(&ty, &value).unwrap();
        let written = output::canonical_text(Some(&ty), Some(&read), MAX).unwrap();
        let canonical = canon::value_to_canonical(&value);
        prop_assert_eq!(written.as_bytes(), canonical.as_slice());
        prop_assert_eq!(canon::canonicalize(written.as_bytes()).unwrap(), canonical);
        prop_assert!(signature_of(&ty).check_answer(&value).is_ok() || matches!(ty, Ty::Result(..)));
    }

    /// I73: the published schema accepts exactly the values that are converted.
    #[test]
    fn schema_accepts_exactly_the_convertible_values((ty, value) in typed(), at in 0..20usize, odd in proptest::option::of(edge_value())) {
        let signature = signature_of(&ty);
        let schemas = Schemas::compile(&signature.input_schema().to_string(), &signature.output_schema().to_string());
        let schemas = schemas.unwrap();
        for value in [json!({ "p": value.clone() }), json!({ "p": with_changed_part(value.clone(), at, odd.clone()) })] {
            let (converted, fits) = (signature.read_arguments(&value), schemas.check_input(&value));
            prop_assert_eq!(converted.is_ok(), fits.is_ok(), "{} {:?} {:?}", value, converted, fits);
        }
        let value = with_changed_part(value, at, odd);
        let (converted, fits) = (signature.check_answer(&value), schemas.check_output(&value));
        prop_assert_eq!(converted.is_ok(), fits.is_ok(), "{} {:?} {:?}", value, converted, fits);
    }
}

/// I73: every problem of a conversion is reported with its location.
#[test]
fn conversion_errors_are_located() {
    let point = Ty::Record(vec![("x".into(), int(true, 8)), ("y".into(), int(false, 64))]);
    let ty = Ty::List(Box::new(Ty::Variant(vec![("dot".into(), None), ("at".into(), Some(point))])));
    let wrong = read(&ty, &json!(["dot", "at", {"at": {"x": 200, "y": "x"}}, {"at": {"x": 1.5, "z": 0}}])).unwrap_err();
    for part in [
        "/p/1 is a string where one of \"dot\", {\"at\": …} belongs",
        "/p/2/at/x is not between -128 and 127",
        "/p/2/at/y is not the whole number that a u64 is",
        "/p/3/at/z is not known",
    ] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    assert!(wrong.ends_with("and 2 more") || wrong.contains("/p/3/at/x"), "{wrong}");
    let secret = read(&Ty::Bool, &json!("hunter2")).unwrap_err();
    assert!(!secret.contains("hunter2"), "{secret}");
}

/// I73: a value without a JSON form is refused. A text that is too long is truncated.
#[test]
fn answers_without_a_json_form_are_refused() {
    let list = Ty::List(Box::new(Ty::F64));
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let value = Val::List(vec![Val::Float64(1.0), Val::Float64(odd)]);
        let Err(JsonWriteError::NoForm(why)) = output::canonical_text(Some(&list), Some(&value), MAX) else {
            panic!("{odd}")
        };
        assert!(why.starts_with("/1 is "), "{why}");
    }
    let long = Val::String("é".repeat(100));
    assert_eq!(output::canonical_text(Some(&Ty::String), Some(&long), 6), Err(JsonWriteError::TooLong("\"éé".into())));
}

/// I73: an answer may be too long and also contain a part without a JSON form. The error names the problem that comes
/// first in the text.
#[test]
fn first_problem_of_an_answer_is_reported() {
    let ty = Ty::Record(vec![("b".into(), Ty::String), ("a".into(), Ty::List(Box::new(Ty::F64)))]);
    let value = Val::Record(vec![
        ("b".into(), Val::String("x".repeat(100))),
        ("a".into(), Val::List(vec![Val::Float64(1.0), Val::Float64(f64::NAN)])),
    ]);
    let text = |max| output::canonical_text(Some(&ty), Some(&value), max).unwrap_err();
    let no_form = JsonWriteError::NoForm("/a/1 is NaN, which JSON has no number for".into());
    assert_eq!(text(8), no_form);
    assert_eq!(text(1_000), no_form);
    assert_eq!(text(7), JsonWriteError::TooLong(r#"{"a":[1"#.into()));
    assert_eq!(text(0), JsonWriteError::TooLong(String::new()));
}
