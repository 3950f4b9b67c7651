//! Inputs that are drawn at random. Each mixes values of an operator's cases with similar and with other values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use latchwork_core::encoding::canon;
use latchwork_core::encoding::rng::StepRng;
use latchwork_core::model::ids::Hash;

use crate::check::variations::numbering::{is_name, numbered_text};
use crate::check::variations::pools::{NumberRange, ValuePools};
use crate::check::variations::schema_sample::LocatedSchema;

/// Number of draws for each input that is wanted. Draws that the schema does not allow are left out.
const DRAWS_PER_INPUT: usize = 4;
/// Greatest number of elements of a drawn array.
const ELEMENTS_MAX: usize = 64;
/// Greatest number of values of a drawn input, beyond twice those of the case.
const VALUES_MAX: usize = 1000;
/// Exponent of the greatest drawn number.
const EXPONENT_MAX: u32 = 6;
/// A drawn number is at most this, or ten times the greatest one of the cases. A step can make something for each unit.
const NUMBER_MAX: f64 = 10_000.0;
/// Greatest number of samples that are used.
const SAMPLES_MAX: usize = 64;

/// Returns at most `count` allowed inputs in their canonical form. `input` is the input of a case, and `samples` are the
/// inputs of all cases of the operator. Equal arguments give equal inputs.
pub(in crate::check) fn drawn<'d>(
    input: &'d Value,
    samples: &'d [Value],
    schema: &'d Value,
    count: usize,
    is_allowed: impl Fn(&Value) -> bool + 'd,
) -> impl Iterator<Item = Value> + 'd {
    let pools = ValuePools::of(&samples[..samples.len().min(SAMPLES_MAX)]);
    let mut rng = StepRng::new(Hash::of(&[b"drawn inputs", input.to_string().as_bytes()]).0);
    let draw = move |_| {
        let style = Style::draw(&mut rng);
        let left = VALUES_MAX + 2 * values_of(input);
        let value = Draw { rng: &mut rng, pools: &pools, style, left }.value("", input, LocatedSchema::of(schema));
        // A job has its input in this form. An integer that has no such form is left out.
        let value: Value = serde_json::from_str(&canon::canonicalize_value(&value).ok()?).ok()?;
        (value != *input && is_allowed(&value)).then_some(value)
    };
    (0..count * DRAWS_PER_INPUT).filter_map(draw).take(count)
}

/// Returns the number of values in a value.
fn values_of(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values_of).sum(),
        Value::Object(members) => members.values().map(values_of).sum(),
        _ => 0,
    }
}

/// The kind of the values of one draw.
#[derive(Clone, Copy)]
struct Style {
    /// A value changes with this probability, in 256ths.
    changed: u32,
    numbers: NumberStyle,
    texts: TextStyle,
    lengths: LengthStyle,
    /// True if texts and numbers that distinguish the elements of an array remain different.
    is_distinct: bool,
    /// Selects the value in each pool that all near numbers have in common.
    anchor: u32,
}

#[derive(Clone, Copy)]
enum NumberStyle {
    OfPool,
    /// Close to one value of the pool. The step is one unit of the last digit, times a power of ten.
    Near {
        power: u32,
    },
    Between,
    Small,
    Wide,
}

#[derive(Clone, Copy)]
enum TextStyle {
    OfPool,
    OtherDigits,
    OtherLetters,
    Mixed,
}

#[derive(Clone, Copy)]
enum LengthStyle {
    Same,
    Few,
    Some,
    Many,
}

impl Style {
    fn draw(rng: &mut StepRng) -> Self {
        let changed = [32, 96, 192, 256][rng.below(4) as usize];
        let numbers = match rng.below(6) {
            0 => NumberStyle::OfPool,
            1 | 2 => NumberStyle::Near { power: rng.below(3) },
            3 => NumberStyle::Between,
            4 => NumberStyle::Small,
            _ => NumberStyle::Wide,
        };
        let texts = match rng.below(4) {
            0 => TextStyle::OfPool,
            1 => TextStyle::OtherDigits,
            2 => TextStyle::OtherLetters,
            _ => TextStyle::Mixed,
        };
        let lengths = match rng.below(5) {
            0 | 1 => LengthStyle::Same,
            2 => LengthStyle::Few,
            3 => LengthStyle::Some,
            _ => LengthStyle::Many,
        };
        Self { changed, numbers, texts, lengths, is_distinct: rng.below(3) > 0, anchor: rng.next_u32() }
    }
}

/// One draw.
struct Draw<'d> {
    rng: &'d mut StepRng,
    pools: &'d ValuePools,
    style: Style,
    /// Number of values that may still be drawn. Nested arrays would otherwise grow at every level.
    left: usize,
}

impl Draw<'_> {
    fn is_changed(&mut self) -> bool {
        self.rng.below(256) < self.style.changed
    }

    fn index(&mut self, len: usize) -> usize {
        self.rng.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// Draws a value for the place `place`, in which indexes of arrays are left out. `base` is the value of a case.
    fn value(&mut self, place: &str, base: &Value, schema: LocatedSchema<'_>) -> Value {
        self.left = self.left.saturating_sub(1);
        match base {
            Value::Array(elements) => self.array(place, elements, schema),
            Value::Object(members) => self.object(place, members, schema),
            leaf if !self.is_changed() => leaf.clone(),
            leaf if schema.is_fixed() => {
                let all: Vec<&Value> = schema.alternatives().collect();
                if all.is_empty() { leaf.clone() } else { all[self.index(all.len())].clone() }
            }
            Value::Number(number) => self.number(place, number),
            Value::String(text) => self.text(place, text).into(),
            Value::Bool(_) => (self.rng.below(2) == 0).into(),
            Value::Null => self.of_pool(place).unwrap_or(Value::Null),
        }
    }

    fn of_pool(&mut self, place: &str) -> Option<Value> {
        let pools = self.pools;
        let all = pools.values(place);
        if all.is_empty() { None } else { Some(all[self.index(all.len())].clone()) }
    }

    fn object(&mut self, place: &str, members: &Map<String, Value>, schema: LocatedSchema<'_>) -> Value {
        let mut drawn = Map::new();
        for (name, member) in members {
            let is_removed = !schema.is_required(name) && self.rng.below(16) == 0;
            if !is_removed || !self.is_changed() {
                drawn.insert(name.clone(), self.value(&format!("{place}/{name}"), member, schema.member(name)));
            }
        }
        // Members that other cases have.
        let pools = self.pools;
        for (name, member) in pools.other_members(place, members) {
            if self.rng.below(8) == 0 {
                drawn.insert(name.clone(), self.value(&format!("{place}/{name}"), member, schema.member(name)));
            }
        }
        drawn.into()
    }

    fn array(&mut self, place: &str, elements: &[Value], schema: LocatedSchema<'_>) -> Value {
        let of_elements = format!("{place}/*");
        let pools = self.pools;
        let pool = pools.values(&of_elements);
        let len = match self.style.lengths {
            LengthStyle::Same => elements.len(),
            LengthStyle::Few => self.index(4),
            LengthStyle::Some => self.index(13),
            LengthStyle::Many => 20 + self.index(ELEMENTS_MAX - 19),
        };
        let len = len.min(schema.length_max().unwrap_or(usize::MAX));
        if pool.is_empty() {
            return elements.to_vec().into();
        }
        let element = |number: usize| {
            if self.left == 0 {
                return None;
            }
            let base = match elements.get(number) {
                Some(own) => own,
                None => &pool[self.index(pool.len())],
            };
            Some(self.value(&of_elements, base, schema.items()))
        };
        let mut drawn: Vec<Value> = (0..len).map_while(element).collect();
        if self.style.is_distinct {
            let objects: Vec<&Map<String, Value>> = elements.iter().filter_map(Value::as_object).collect();
            distinguish(&mut drawn, &objects, schema.items());
        }
        drawn.into()
    }

    fn number(&mut self, place: &str, own: &Number) -> Value {
        let pools = self.pools;
        let range = pools.range(place).unwrap_or_else(|| NumberRange::of(own));
        let is_integer = range.digits == 0;
        let unit = 0.1_f64.powi(i32::try_from(range.digits).unwrap_or(0));
        let number = match self.style.numbers {
            NumberStyle::OfPool => return self.of_pool(place).unwrap_or_else(|| own.clone().into()),
            NumberStyle::Near { power } => {
                let all = pools.values(place);
                let anchor = all.get(self.style.anchor as usize % all.len().max(1)).and_then(Value::as_f64);
                let anchor = anchor.or(own.as_f64()).unwrap_or_default();
                anchor + (f64::from(self.rng.below(41)) - 20.0) * unit * 10.0_f64.powi(power as i32)
            }
            NumberStyle::Between => {
                range.least + (range.greatest - range.least) * f64::from(self.rng.below(1001)) / 1000.0
            }
            NumberStyle::Small => f64::from(self.rng.below(10)),
            NumberStyle::Wide => {
                let exponent = self.rng.below(EXPONENT_MAX + 1);
                let sign = if self.rng.below(8) == 0 { -1.0 } else { 1.0 };
                sign * f64::from(self.rng.below(10_u32.pow(exponent))) + f64::from(self.rng.below(1000)) / 1000.0
            }
        };
        let number = number % NUMBER_MAX.max(10.0 * range.greatest.abs());
        if is_integer {
            return (number.round() as i64).into();
        }
        // Removes the digits beyond those of the cases.
        let scale = 10.0_f64.powi(i32::try_from(range.digits).unwrap_or(0));
        Number::from_f64((number * scale).round() / scale).map_or(Value::Null, Value::Number)
    }

    fn text(&mut self, place: &str, own: &str) -> String {
        let (of_digit, of_letter) = match self.style.texts {
            TextStyle::OfPool => {
                let other = self.of_pool(place).and_then(|value| value.as_str().map(str::to_owned));
                return other.unwrap_or_else(|| own.to_owned());
            }
            TextStyle::OtherDigits => (128, 0),
            TextStyle::OtherLetters => (0, 128),
            TextStyle::Mixed => (64, 64),
        };
        let other = |c: char| match c {
            '0'..='9' if self.rng.below(256) < of_digit => char::from(b'0' + self.rng.below(10) as u8),
            'a'..='z' if self.rng.below(256) < of_letter => char::from(b'a' + self.rng.below(26) as u8),
            'A'..='Z' if self.rng.below(256) < of_letter => char::from(b'A' + self.rng.below(26) as u8),
            other => other,
        };
        own.chars().map(other).collect()
    }
}

/// Changes texts, and the members by which the objects of the case differ, until no two elements have the same. Values of an
/// enumeration stay.
fn distinguish(elements: &mut [Value], objects: &[&Map<String, Value>], schema: LocatedSchema<'_>) {
    let mut taken: BTreeMap<String, TakenValues> = BTreeMap::new();
    for element in elements {
        match element {
            Value::String(_) if !schema.is_fixed() => taken.entry(String::new()).or_default().distinguish(element),
            Value::Object(members) => {
                let is_own = |name: &str| is_name(objects, name) && !schema.member(name).is_fixed();
                for (name, member) in members.iter_mut().filter(|(name, _)| is_own(name)) {
                    taken.entry(name.clone()).or_default().distinguish(member);
                }
            }
            _ => {}
        }
    }
}

/// The values that elements have under one name.
#[derive(Default)]
struct TakenValues {
    values: BTreeSet<String>,
    greatest: Option<i64>,
    /// Number of changed texts.
    changed: usize,
}

impl TakenValues {
    /// Changes a text or an integer if another element has it.
    fn distinguish(&mut self, value: &mut Value) {
        if let Some(own) = value.as_i64() {
            self.greatest = self.greatest.max(Some(own));
        }
        while !self.values.insert(value.to_string()) {
            *value = match (&*value, &mut self.greatest) {
                (Value::String(text), _) => {
                    self.changed += 1;
                    numbered_text(text, self.changed).into()
                }
                (Value::Number(_), Some(greatest)) if *greatest < i64::MAX => {
                    *greatest += 1;
                    (*greatest).into()
                }
                _ => return,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(input: &Value, schema: &Value) -> Vec<Value> {
        drawn(input, std::slice::from_ref(input), schema, 400, |_| true).collect()
    }

    #[test]
    fn nested_arrays_stay_small() {
        let input = json!([[[[1, 2], [3]], [[4]]], [[[5], [6]]], [7]]);
        assert!(of(&input, &json!({})).iter().all(|value| values_of(value) < 2 * VALUES_MAX));
    }

    #[test]
    fn drawn_inputs_are_in_their_canonical_form() {
        for input in [json!({ "id": 9_007_199_254_740_991_i64 }), json!({ "share": -0.04 }), json!({ "all": [2.5] })] {
            let found = of(&input, &json!({}));
            assert!(found.len() > 20, "{input}");
            for value in found {
                assert_eq!(canon::canonicalize(value.to_string().as_bytes()).unwrap(), value.to_string().into_bytes());
            }
        }
    }

    #[test]
    fn numbers_stay_within_ten_times_those_of_the_cases() {
        let found = of(&json!({ "count": 3, "grams": 40_000 }), &json!({}));
        let greatest = |name: &str| found.iter().filter_map(|value| value[name].as_i64()).max().unwrap();
        assert!((5_000..=10_000).contains(&greatest("count")), "{}", greatest("count"));
        assert!((200_000..=400_000).contains(&greatest("grams")), "{}", greatest("grams"));
    }

    #[test]
    fn values_of_an_enumeration_stay_in_it() {
        let input = json!({ "all": ["a"], "rows": [{ "kind": "a" }, { "kind": "b" }] });
        let kinds = json!({ "enum": ["a", "b"] });
        let schema = json!({ "properties": {
            "all": { "items": kinds },
            "rows": { "items": { "properties": { "kind": kinds } } },
        } });
        let is_kind = |value: &Value| value == "a" || value == "b";
        for value in of(&input, &schema) {
            assert!(value["all"].as_array().is_none_or(|all| all.iter().all(is_kind)), "{value}");
            let kinds = value["rows"].as_array().into_iter().flatten().filter_map(|row| row.get("kind"));
            assert!(kinds.into_iter().all(is_kind), "{value}");
        }
    }

    #[test]
    fn draws_have_close_numbers_other_digits_and_many_elements() {
        let input = json!({ "no": "0614", "kind": "a", "all": [{ "name": "Ada", "kilos": 312.4 }, { "name": "Mira", "kilos": 97.0 }] });
        let schema = json!({ "properties": { "kind": { "enum": ["a", "b"] } }, "required": ["all", "kind", "no"] });
        let found = of(&input, &schema);
        assert_eq!(found, of(&input, &schema));
        let kilos = |value: &Value| -> Vec<f64> {
            value["all"].as_array().unwrap().iter().filter_map(|one| one["kilos"].as_f64()).collect()
        };
        let is_close = |all: &[f64]| all.len() > 20 && all.windows(2).all(|two| (two[0] - two[1]).abs() < 5.0);
        assert!(found.iter().any(|value| is_close(&kilos(value))));
        assert!(found.iter().any(|value| value["no"].as_str().unwrap().starts_with('9')));
        assert!(found.iter().any(|value| value["all"] == json!([])));
        assert!(found.iter().all(|value| value["kind"] == "a" || value["kind"] == "b"));
        let is_distinct = |value: &Value| {
            let names: BTreeSet<&str> =
                value["all"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
            names.len() > 20
        };
        assert!(found.iter().any(is_distinct));
    }
}
