//! Compares an expected function signature with the signature in a component and lists every difference.

use wasmparser::component_types::{
    ComponentDefinedType, ComponentFuncTypeId, ComponentValType, RecordType, VariantType,
};
use wasmparser::types::TypesRef;
use wit_parser::{Function, Record, Resolve, Type, TypeDefKind, Variant};

use crate::inspect::type_printer;
use crate::inspect::type_printer::TypePrinter;

/// One difference between two signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    /// Location of the difference, for example `result, its error, field code`.
    pub at: String,
    /// Expected type or name.
    pub expected: String,
    /// Actual type or name.
    pub found: String,
}

/// Lists every difference between a function and the expected function. Like the host, this compares types and ignores
/// parameter names.
pub(super) fn function(
    resolve: &Resolve,
    expected: &Function,
    printer: &TypePrinter<'_>,
    types: TypesRef<'_>,
    found: ComponentFuncTypeId,
) -> Vec<TypeMismatch> {
    let mut compare = Compare { resolve, printer, types, out: vec![] };
    let ty = &types[found];
    if ty.async_ {
        compare.differs("the function".into(), "a synchronous function", "an async function");
    }
    if ty.params.len() != expected.params.len() {
        let (wanted, there) = (expected.params.len(), ty.params.len());
        compare.differs("parameters".into(), &format!("{wanted}"), &there.to_string());
    }
    for (param, (_, found)) in expected.params.iter().zip(&ty.params) {
        compare.compare_type(&param.ty, *found, format!("parameter {}", param.name));
    }
    compare.compare_optional(expected.result.as_ref(), ty.result, "result".to_owned());
    compare.out
}

struct Compare<'a, 't> {
    resolve: &'a Resolve,
    printer: &'a TypePrinter<'t>,
    types: TypesRef<'a>,
    out: Vec<TypeMismatch>,
}

impl<'a> Compare<'a, '_> {
    fn differs(&mut self, at: String, expected: &str, found: &str) {
        self.out.push(TypeMismatch { at, expected: expected.to_owned(), found: found.to_owned() });
    }

    fn compare_optional(&mut self, expected: Option<&Type>, found: Option<ComponentValType>, at: String) {
        match (expected, found) {
            (None, None) => {}
            (Some(expected), Some(found)) => self.compare_type(expected, found, at),
            (Some(expected), None) => {
                let expected = type_printer::our_type(self.resolve, expected);
                self.differs(at, &expected, "nothing");
            }
            (None, Some(found)) => {
                let found = self.printer.value(found);
                self.differs(at, "nothing", &found);
            }
        }
    }

    /// Compares a type with the expected type. The recursion ends because the expected type has a limited depth.
    fn compare_type(&mut self, expected: &Type, found: ComponentValType, at: String) {
        let id = match expected {
            Type::Id(id) => *id,
            plain => {
                let name = type_printer::primitive(plain);
                if self.primitive(found).as_deref() != Some(name) {
                    let found = self.printer.value(found);
                    self.differs(at, name, &found);
                }
                return;
            }
        };
        let kind = &self.resolve.types[id].kind;
        if let TypeDefKind::Type(ty) = kind {
            return self.compare_type(ty, found, at);
        }
        let defined = match found {
            ComponentValType::Type(id) => self.types.get(id),
            ComponentValType::Primitive(_) => None,
        };
        match (kind, defined) {
            (TypeDefKind::Record(record), Some(ComponentDefinedType::Record(found))) => {
                self.compare_fields(record, found, &at);
            }
            (TypeDefKind::Variant(variant), Some(ComponentDefinedType::Variant(found))) => {
                self.compare_cases(variant, found, &at);
            }
            (TypeDefKind::Enum(expected), Some(ComponentDefinedType::Enum(found))) => {
                let names: Vec<&str> = expected.cases.iter().map(|case| case.name.as_str()).collect();
                let there: Vec<&str> = found.iter().map(|name| name.as_str()).collect();
                self.compare_names("case", &names, &there, &at);
            }
            (TypeDefKind::Flags(expected), Some(ComponentDefinedType::Flags(found))) => {
                let names: Vec<&str> = expected.flags.iter().map(|flag| flag.name.as_str()).collect();
                let there: Vec<&str> = found.iter().map(|name| name.as_str()).collect();
                self.compare_names("flag", &names, &there, &at);
            }
            (TypeDefKind::List(ty), Some(ComponentDefinedType::List { element, .. })) => {
                self.compare_type(ty, *element, format!("{at}, an element"));
            }
            (TypeDefKind::Option(ty), Some(ComponentDefinedType::Option { ty: found, .. })) => {
                self.compare_type(ty, *found, format!("{at}, its value"));
            }
            (TypeDefKind::Result(expected), Some(ComponentDefinedType::Result { ok, err, .. })) => {
                self.compare_optional(expected.ok.as_ref(), *ok, format!("{at}, its value"));
                self.compare_optional(expected.err.as_ref(), *err, format!("{at}, its error"));
            }
            (TypeDefKind::Tuple(expected), Some(ComponentDefinedType::Tuple(found)))
                if expected.types.len() == found.types.len() =>
            {
                for (index, (ty, found)) in expected.types.iter().zip(&found.types).enumerate() {
                    self.compare_type(ty, *found, format!("{at}, part {index}"));
                }
            }
            _ => {
                let (expected, found) =
                    (type_printer::our_type(self.resolve, &Type::Id(id)), self.printer.value(found));
                self.differs(at, &expected, &found);
            }
        }
    }

    fn compare_fields(&mut self, record: &Record, found: &RecordType, at: &str) {
        let names: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).collect();
        let there: Vec<&str> = found.fields.keys().map(|name| name.as_str()).collect();
        self.compare_names("field", &names, &there, at);
        for field in &record.fields {
            let there = found.fields.iter().find(|(name, _)| name.as_str() == field.name);
            if let Some((_, there)) = there {
                self.compare_type(&field.ty, *there, format!("{at}, field {}", field.name));
            }
        }
    }

    fn compare_cases(&mut self, variant: &Variant, found: &VariantType, at: &str) {
        let names: Vec<&str> = variant.cases.iter().map(|case| case.name.as_str()).collect();
        let there: Vec<&str> = found.cases.keys().map(|name| name.as_str()).collect();
        self.compare_names("case", &names, &there, at);
        for case in &variant.cases {
            let there = found.cases.iter().find(|(name, _)| name.as_str() == case.name);
            if let Some((_, there)) = there {
                self.compare_optional(case.ty.as_ref(), there.ty, format!("{at}, case {}", case.name));
            }
        }
    }

    /// Compares names of fields, cases or flags. Reports missing names, additional names, or a different
    /// order.
    fn compare_names(&mut self, what: &str, expected: &[&str], found: &[&str], at: &str) {
        if expected == found {
            return;
        }
        let before = self.out.len();
        for name in expected.iter().filter(|name| !found.contains(name)) {
            self.differs(at.to_owned(), &format!("{what} {name}"), &format!("no such {what}"));
        }
        for name in found.iter().filter(|name| !expected.contains(name)) {
            self.differs(at.to_owned(), &format!("no other {what}"), &format!("{what} {name}"));
        }
        if self.out.len() == before {
            self.differs(at.to_owned(), &format!("the order {}", expected.join(", ")), &found.join(", "));
        }
    }

    fn primitive(&self, ty: ComponentValType) -> Option<String> {
        match ty {
            ComponentValType::Primitive(primitive) => Some(primitive.to_string()),
            ComponentValType::Type(id) => match &self.types[id] {
                ComponentDefinedType::Primitive(primitive) => Some(primitive.to_string()),
                _ => None,
            },
        }
    }
}
