//! Reads the types of a component's functions and finds those without a JSON form.

use wasmtime::component::types::{ComponentFunc, Record, Type, Variant};

use latchwork_core::model::bounds::{UNTYPED_NAME_BYTES, UNTYPED_NESTING, UNTYPED_TYPES};

use crate::engine::untyped::ty::{FunctionSignature, Int, Ty};

/// Reads a function's type.
///
/// # Errors
/// Every reason why the function cannot be called with JSON.
pub(super) fn signature(func: &ComponentFunc) -> Result<FunctionSignature, Vec<String>> {
    let mut reader = TypeReader::default();
    if func.async_() {
        reader.problems.push("it is asynchronous, which this host does not support".to_owned());
    }
    let mut params = Vec::new();
    for (name, ty) in func.params() {
        reader.count(0, name.len());
        let read = reader.read_part(&format!("parameter {name}"), &ty);
        params.extend(read.map(|ty| (name.to_owned(), ty)));
    }
    let mut result = None;
    for ty in func.results() {
        result = reader.read_part("its result", &ty);
    }
    match reader.problems.is_empty() {
        true => Ok(FunctionSignature { params, result }),
        false => Err(reader.problems),
    }
}

#[derive(Default)]
struct TypeReader {
    /// Description of the current position in the type.
    at: Vec<String>,
    types: usize,
    name_bytes: usize,
    problems: Vec<String>,
}

impl TypeReader {
    /// Returns true if the type exceeds the size limit. The reader reports the excess once, and reads nothing
    /// afterwards.
    fn is_full(&self) -> bool {
        self.types > UNTYPED_TYPES || self.name_bytes > UNTYPED_NAME_BYTES
    }

    fn count(&mut self, types: usize, name_bytes: usize) {
        if self.is_full() {
            return;
        }
        self.types += types;
        self.name_bytes += name_bytes;
        if self.is_full() {
            self.problems.push(format!(
                "its type is too large: at most {UNTYPED_TYPES} types and {UNTYPED_NAME_BYTES} bytes of names"
            ));
        }
    }

    fn read_part(&mut self, at: &str, ty: &Type) -> Option<Ty> {
        self.at.push(at.to_owned());
        let read = self.read_type(ty);
        self.at.pop();
        read
    }

    fn read_boxed(&mut self, at: &str, ty: &Type) -> Option<Box<Ty>> {
        self.read_part(at, ty).map(Box::new)
    }

    fn refuse(&mut self, why: &str) -> Option<Ty> {
        self.problems.push(format!("{}: {why}", self.at.join(", ")));
        None
    }

    fn read_type(&mut self, ty: &Type) -> Option<Ty> {
        self.count(1, 0);
        if self.is_full() {
            return None;
        }
        // The JSON Schema of a type is nested deeper than the type, and `bounds::SCHEMA_NESTING` limits it, too.
        if self.at.len() > UNTYPED_NESTING {
            return self.refuse(&format!("types are nested more than {UNTYPED_NESTING} deep"));
        }
        let int = |signed, bits| Some(Ty::Int(Int { signed, bits }));
        match ty {
            Type::Bool => Some(Ty::Bool),
            Type::S8 => int(true, 8),
            Type::U8 => int(false, 8),
            Type::S16 => int(true, 16),
            Type::U16 => int(false, 16),
            Type::S32 => int(true, 32),
            Type::U32 => int(false, 32),
            Type::S64 => int(true, 64),
            Type::U64 => int(false, 64),
            Type::Float32 => Some(Ty::F32),
            Type::Float64 => Some(Ty::F64),
            Type::Char => Some(Ty::Char),
            Type::String => Some(Ty::String),
            Type::List(list) if list.ty() == Type::U8 => Some(Ty::Bytes),
            Type::List(list) => self.read_boxed("item", &list.ty()).map(Ty::List),
            Type::FixedLengthList(list) => self.read_boxed("item", &list.ty()).map(|item| Ty::Array(item, list.len())),
            Type::Record(record) => Some(Ty::Record(self.read_fields(record))),
            Type::Tuple(tuple) => {
                let items = tuple.types().enumerate();
                Some(Ty::Tuple(items.filter_map(|(i, ty)| self.read_part(&format!("item {i}"), &ty)).collect()))
            }
            Type::Variant(variant) => Some(Ty::Variant(self.read_cases(variant))),
            Type::Enum(names) => {
                self.count(0, names.names().map(str::len).sum());
                Some(Ty::Enum(self.names(names.names())))
            }
            Type::Flags(names) => {
                self.count(0, names.names().map(str::len).sum());
                Some(Ty::Flags(self.names(names.names())))
            }
            Type::Option(option) => {
                self.count(2, 0);
                self.read_boxed("option value", &option.ty()).map(Ty::Option)
            }
            Type::Result(result) => {
                self.count(2, 0);
                let ok = result.ok().map(|ty| self.read_boxed("success value", &ty));
                let err = result.err().map(|ty| self.read_boxed("error value", &ty));
                Some(Ty::Result(ok.flatten(), err.flatten()))
            }
            Type::Own(_) | Type::Borrow(_) => self.refuse(
                "a resource, which exists in one instance only; each call runs in its own instance, so a later call \
                 could not use it",
            ),
            Type::Stream(_) => self.refuse("a stream, which cannot be recorded as one answer"),
            Type::Future(_) => self.refuse("a future, which may have no value when the call ends"),
            Type::ErrorContext => self.refuse("an error context, which exists in one instance only"),
            Type::Map(_) => self.refuse("a map, which has no JSON form here; use a list of tuples"),
        }
    }

    fn read_fields(&mut self, record: &Record) -> Vec<(String, Ty)> {
        let mut fields = Vec::new();
        for field in record.fields() {
            self.count(0, field.name.len());
            let read = self.read_part(&format!("field {}", field.name), &field.ty);
            fields.extend(read.map(|ty| (field.name.to_owned(), ty)));
        }
        fields
    }

    fn read_cases(&mut self, variant: &Variant) -> Vec<(String, Option<Ty>)> {
        let mut cases = Vec::new();
        for case in variant.cases() {
            self.count(2, case.name.len());
            let payload = case.ty.as_ref().map(|ty| self.read_part(&format!("case {}", case.name), ty));
            match payload {
                None => cases.push((case.name.to_owned(), None)),
                Some(read) => cases.extend(read.map(|ty| (case.name.to_owned(), Some(ty)))),
            }
        }
        cases
    }

    fn names<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        if self.is_full() { vec![] } else { names.map(str::to_owned).collect() }
    }
}
