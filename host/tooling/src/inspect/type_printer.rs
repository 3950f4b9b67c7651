//! Formats types of components and of Latchwork's interfaces in WIT syntax.

use std::collections::HashMap;
use std::fmt::Write as _;

use latchwork_core::encoding::truncate;
use wasmparser::component_types::{
    ComponentAnyTypeId, ComponentDefinedType, ComponentDefinedTypeId, ComponentEntityType, ComponentFuncTypeId,
    ComponentInstanceTypeId, ComponentValType,
};
use wasmparser::types::TypesRef;
use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind};

/// Maximum nesting that is printed. Deeper types are truncated.
const DEPTH_MAX: usize = 4;
/// Maximum length of a printed type. Longer types are truncated.
const LENGTH_MAX: usize = 1_000;

/// Formats types of a component.
pub(super) struct TypePrinter<'t> {
    types: TypesRef<'t>,
    names: HashMap<ComponentDefinedTypeId, &'t str>,
}

impl<'t> TypePrinter<'t> {
    pub(super) fn new(types: TypesRef<'t>) -> Self {
        Self { types, names: HashMap::new() }
    }

    /// Creates a printer that uses the type names of an instance.
    pub(super) fn with_names_of(types: TypesRef<'t>, instance: ComponentInstanceTypeId) -> Self {
        let mut printer = Self::new(types);
        for (name, item) in types.get(instance).into_iter().flat_map(|instance| &instance.exports) {
            if let ComponentEntityType::Type { referenced, created } = item.ty {
                for id in [referenced, created] {
                    if let ComponentAnyTypeId::Defined(id) = id {
                        printer.names.insert(id, name);
                    }
                }
            }
        }
        printer
    }

    /// Formats every function of an instance, with its name.
    pub(super) fn instance(&self, id: ComponentInstanceTypeId) -> Vec<String> {
        let named = TypePrinter::with_names_of(self.types, id);
        let function = |(name, item): (&String, &wasmparser::component_types::ComponentItem)| match item.ty {
            ComponentEntityType::Func(id) => Some(named.function(name, id)),
            _ => None,
        };
        self.types[id].exports.iter().filter_map(function).collect()
    }

    /// Formats a function as `name: func(…) -> …`.
    pub(super) fn function(&self, name: &str, id: ComponentFuncTypeId) -> String {
        let ty = &self.types[id];
        let mut text = format!("{name}: {}func(", if ty.async_ { "async " } else { "" });
        for (index, (name, ty)) in ty.params.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{name}: ");
            self.write(&mut text, *ty, 0);
        }
        text.push(')');
        if let Some(result) = ty.result {
            text.push_str(" -> ");
            self.write(&mut text, result, 0);
        }
        truncate::at_characters(&text, LENGTH_MAX).to_string()
    }

    /// Formats a type.
    pub(super) fn value(&self, ty: ComponentValType) -> String {
        let mut text = String::new();
        self.write(&mut text, ty, 0);
        truncate::at_characters(&text, LENGTH_MAX).to_string()
    }

    fn write(&self, text: &mut String, ty: ComponentValType, depth: usize) {
        let id = match ty {
            ComponentValType::Primitive(primitive) => return text.push_str(&primitive.to_string()),
            ComponentValType::Type(id) => id,
        };
        if let (Some(name), true) = (self.names.get(&id), depth > 0 || self.prefers_name(id)) {
            return text.push_str(name);
        }
        if depth > DEPTH_MAX || text.len() > LENGTH_MAX {
            return text.push(truncate::MARK);
        }
        match &self.types[id] {
            ComponentDefinedType::Primitive(primitive) => text.push_str(&primitive.to_string()),
            ComponentDefinedType::Record(record) => {
                self.write_fields(
                    text,
                    "record { ",
                    depth,
                    &mut record.fields.iter().map(|(name, ty)| (name.as_str(), Some(*ty))),
                );
            }
            ComponentDefinedType::Variant(variant) => {
                self.write_fields(
                    text,
                    "variant { ",
                    depth,
                    &mut variant.cases.iter().map(|(name, case)| (name.as_str(), case.ty)),
                );
            }
            ComponentDefinedType::Enum(names) => {
                self.write_fields(text, "enum { ", depth, &mut names.iter().map(|name| (name.as_str(), None)));
            }
            ComponentDefinedType::Flags(names) => {
                self.write_fields(text, "flags { ", depth, &mut names.iter().map(|name| (name.as_str(), None)));
            }
            ComponentDefinedType::List { element, .. } => self.write_arguments(text, "list", depth, &[Some(*element)]),
            ComponentDefinedType::FixedLengthList { element, length, .. } => {
                self.write_arguments(text, "list", depth, &[Some(*element)]);
                let _ = write!(text, "[{length}]");
            }
            ComponentDefinedType::Map { key, value, .. } => {
                self.write_arguments(text, "map", depth, &[Some(*key), Some(*value)])
            }
            ComponentDefinedType::Tuple(tuple) => {
                let types: Vec<_> = tuple.types.iter().map(|ty| Some(*ty)).collect();
                self.write_arguments(text, "tuple", depth, &types);
            }
            ComponentDefinedType::Option { ty, .. } => self.write_arguments(text, "option", depth, &[Some(*ty)]),
            ComponentDefinedType::Result { ok, err, .. } => match err {
                None => self.write_arguments(text, "result", depth, &[*ok]),
                err => self.write_arguments(text, "result", depth, &[*ok, *err]),
            },
            ComponentDefinedType::Own(_) => text.push_str("a resource"),
            ComponentDefinedType::Borrow(_) => text.push_str("borrow<a resource>"),
            ComponentDefinedType::Future { ty, .. } => self.write_arguments(text, "future", depth, &[*ty]),
            ComponentDefinedType::Stream { ty, .. } => self.write_arguments(text, "stream", depth, &[*ty]),
        }
    }

    /// Writes fields, cases or flags, from `open` to the closing brace. The types of the fields are one level deeper
    /// than `depth`.
    fn write_fields(
        &self,
        text: &mut String,
        open: &str,
        depth: usize,
        items: &mut dyn Iterator<Item = (&str, Option<ComponentValType>)>,
    ) {
        text.push_str(open);
        for (index, (name, ty)) in items.enumerate() {
            text.push_str(if index > 0 { ", " } else { "" });
            text.push_str(name);
            if let Some(ty) = ty {
                text.push_str(": ");
                self.write(text, ty, depth + 1);
            }
            if text.len() > LENGTH_MAX {
                break;
            }
        }
        text.push_str(" }");
    }

    /// Writes the type name `of`, followed by its type arguments in angle brackets if there are any. The arguments are
    /// one level deeper than `depth`.
    fn write_arguments(&self, text: &mut String, of: &str, depth: usize, inner: &[Option<ComponentValType>]) {
        text.push_str(of);
        if inner.iter().all(Option::is_none) {
            return;
        }
        text.push('<');
        for (index, ty) in inner.iter().enumerate() {
            text.push_str(if index > 0 { ", " } else { "" });
            match ty {
                Some(ty) => self.write(text, *ty, depth + 1),
                None => text.push('_'),
            }
        }
        text.push('>');
    }

    /// Returns true if the type is better printed by its name than by its definition.
    fn prefers_name(&self, id: ComponentDefinedTypeId) -> bool {
        use ComponentDefinedType::{Enum, Flags, Primitive, Record, Variant};
        matches!(&self.types[id], Record(_) | Variant(_) | Enum(_) | Flags(_) | Primitive(_))
    }
}

/// Formats a function of a Latchwork interface as `name: func(…) -> …`.
pub(super) fn our_function(resolve: &Resolve, function: &Function) -> String {
    let params: Vec<_> =
        function.params.iter().map(|param| format!("{}: {}", param.name, our_type(resolve, &param.ty))).collect();
    let result = function.result.as_ref().map(|ty| format!(" -> {}", our_type(resolve, ty))).unwrap_or_default();
    format!("{}: func({}){result}", function.name, params.join(", "))
}

/// Formats a type of a Latchwork interface, by its name if it has one.
pub(super) fn our_type(resolve: &Resolve, ty: &Type) -> String {
    let inner = |ty: &Option<Type>| ty.as_ref().map_or_else(|| "_".to_owned(), |ty| our_type(resolve, ty));
    let id = match ty {
        Type::Id(id) => *id,
        plain => return primitive(plain).to_owned(),
    };
    let def = &resolve.types[id];
    if let Some(name) = &def.name {
        return name.clone();
    }
    match &def.kind {
        TypeDefKind::List(ty) => format!("list<{}>", our_type(resolve, ty)),
        TypeDefKind::Option(ty) => format!("option<{}>", our_type(resolve, ty)),
        TypeDefKind::Result(result) if result.err.is_none() && result.ok.is_none() => "result".to_owned(),
        TypeDefKind::Result(result) => format!("result<{}, {}>", inner(&result.ok), inner(&result.err)),
        TypeDefKind::Tuple(tuple) => {
            let types: Vec<_> = tuple.types.iter().map(|ty| our_type(resolve, ty)).collect();
            format!("tuple<{}>", types.join(", "))
        }
        TypeDefKind::Handle(Handle::Own(_) | Handle::Borrow(_)) => "a resource".to_owned(),
        TypeDefKind::Type(ty) => our_type(resolve, ty),
        other => other.as_str().to_owned(),
    }
}

pub(super) fn primitive(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::U8 => "u8",
        Type::U16 => "u16",
        Type::U32 => "u32",
        Type::U64 => "u64",
        Type::S8 => "s8",
        Type::S16 => "s16",
        Type::S32 => "s32",
        Type::S64 => "s64",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Char => "char",
        Type::String => "string",
        Type::ErrorContext => "error-context",
        Type::Id(_) => "a type",
    }
}
