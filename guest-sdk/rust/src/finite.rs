//! JSON text of values, without numbers that JSON cannot represent. `serde_json` alone writes `null` for NaN and
//! infinity.

use std::fmt;

use serde::{Serialize, Serializer, ser};

/// Serializes a value.
///
/// # Errors
/// Returns the reason: a number is NaN or infinite, with its place as a JSON pointer, or the value cannot be
/// serialized.
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, String> {
    value.serialize(FiniteCheck).map_err(|problem| problem.to_string())?;
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// Reason why a value has no JSON text.
#[derive(Debug)]
struct Problem {
    reason: String,
    /// Keys and indexes on the way to the value, the innermost first.
    place: Vec<String>,
}

impl Problem {
    fn inside(mut self, part: impl fmt::Display) -> Self {
        self.place.push(part.to_string().replace('~', "~0").replace('/', "~1"));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.iter().rev().try_for_each(|part| write!(f, "/{part}"))?;
        f.write_str(if self.place.is_empty() { "" } else { ": " })?;
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Problem {}

impl ser::Error for Problem {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self { reason: reason.to_string(), place: Vec::new() }
    }
}

/// Serializer that writes nothing and only checks that all numbers are finite.
struct FiniteCheck;

/// Elements of a list or a tuple.
struct Elements {
    index: usize,
    variant: Option<&'static str>,
}

/// Fields of a map or a struct.
struct Fields {
    variant: Option<&'static str>,
}

type Checked = Result<(), Problem>;

fn in_variant(checked: Checked, variant: Option<&'static str>) -> Checked {
    checked.map_err(|problem| match variant {
        Some(variant) => problem.inside(variant),
        None => problem,
    })
}

impl Elements {
    fn check<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
        let index = self.index;
        self.index += 1;
        in_variant(value.serialize(FiniteCheck).map_err(|problem| problem.inside(index)), self.variant)
    }
}

impl Fields {
    fn check<T: Serialize + ?Sized>(&self, key: impl FnOnce() -> String, value: &T) -> Checked {
        in_variant(value.serialize(FiniteCheck).map_err(|problem| problem.inside(key())), self.variant)
    }
}

/// Functions for values that contain no number with a fraction.
macro_rules! accept {
    ($($function:ident: $type:ty),*) => {
        $(fn $function(self, _: $type) -> Checked {
            Ok(())
        })*
    };
}

impl Serializer for FiniteCheck {
    type Ok = ();
    type Error = Problem;
    type SerializeSeq = Elements;
    type SerializeTuple = Elements;
    type SerializeTupleStruct = Elements;
    type SerializeTupleVariant = Elements;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    accept! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, value: f32) -> Checked {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Checked {
        match value.is_finite() {
            true => Ok(()),
            false => Err(ser::Error::custom(format_args!("{value} is a number that JSON cannot represent"))),
        }
    }

    fn serialize_none(self) -> Checked {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Checked {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Checked {
        in_variant(value.serialize(self), Some(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements, Problem> {
        Ok(Elements { index: 0, variant: None })
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements, Problem> {
        Ok(Elements { index: 0, variant: None })
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements, Problem> {
        Ok(Elements { index: 0, variant: None })
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements, Problem> {
        Ok(Elements { index: 0, variant: Some(variant) })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, Problem> {
        Ok(Fields { variant: None })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Problem> {
        Ok(Fields { variant: None })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields, Problem> {
        Ok(Fields { variant: Some(variant) })
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Checked {
        Ok(())
    }
}

macro_rules! elements {
    ($($trait:ident: $function:ident),*) => {
        $(impl ser::$trait for Elements {
            type Ok = ();
            type Error = Problem;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
                self.check(value)
            }

            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
}

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Fields {
            type Ok = ();
            type Error = Problem;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Checked {
                self.check(|| key.to_owned(), value)
            }

            fn end(self) -> Checked {
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Fields {
    type Ok = ();
    type Error = Problem;

    // `serde_json` itself refuses a key that is not a text or a finite number.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Checked {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Checked {
        self.check(|| "…".to_owned(), value)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(&mut self, key: &K, value: &V) -> Checked {
        let name = || match serde_json::to_value(key) {
            Ok(serde_json::Value::String(text)) => text,
            other => other.map_or_else(|_| "…".to_owned(), |other| other.to_string()),
        };
        self.check(name, value)
    }

    fn end(self) -> Checked {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeMap;

    #[derive(Serialize)]
    enum Shape {
        Point,
        Circle(f64),
        Line(f64, f64),
        Square { side: f32 },
    }

    #[derive(Serialize)]
    struct Drawing {
        name: Option<&'static str>,
        shapes: Vec<Shape>,
        areas: BTreeMap<&'static str, (u128, f64)>,
    }

    fn drawing(shape: Shape, area: f64) -> Drawing {
        Drawing { name: None, shapes: vec![Shape::Point, shape], areas: BTreeMap::from([("a/b", (1 << 100, area))]) }
    }

    #[test]
    fn numbers_that_json_cannot_represent_are_refused_with_their_place() {
        let refused = |value: Drawing| to_string(&value).unwrap_err();
        for (shape, place) in [
            (Shape::Circle(f64::NAN), "/shapes/1/Circle"),
            (Shape::Line(0.0, f64::NAN), "/shapes/1/Line/1"),
            (Shape::Square { side: f32::NAN }, "/shapes/1/Square/side"),
        ] {
            assert_eq!(refused(drawing(shape, 0.0)), format!("{place}: NaN is a number that JSON cannot represent"));
        }
        let found = refused(drawing(Shape::Point, f64::NEG_INFINITY));
        assert_eq!(found, "/areas/a~1b/1: -inf is a number that JSON cannot represent");
        assert_eq!(to_string(&f64::INFINITY).unwrap_err(), "inf is a number that JSON cannot represent");
    }

    #[test]
    fn other_values_have_the_text_of_serde_json() {
        let value = drawing(Shape::Line(0.5, -1e300), f64::MIN_POSITIVE);
        assert_eq!(to_string(&value).unwrap(), serde_json::to_string(&value).unwrap());
        let value = serde_json::json!([null, true, "ü", 18_446_744_073_709_551_615_u64, { "a": [1.5] }]);
        assert_eq!(to_string(&value).unwrap(), value.to_string());
        assert!(to_string(&BTreeMap::from([((1, 2), 3)])).unwrap_err().contains("key must be a string"));
    }
}
