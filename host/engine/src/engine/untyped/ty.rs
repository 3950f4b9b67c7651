//! WIT types whose values can be written in JSON.

use latchwork_core::encoding::truncate;

/// A type whose values have a JSON form.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Bool,
    Int(Int),
    F32,
    F64,
    Char,
    String,
    /// `list<u8>`, written as base64.
    Bytes,
    List(Box<Ty>),
    /// A list with a fixed length.
    Array(Box<Ty>, u32),
    Record(Vec<(String, Ty)>),
    Tuple(Vec<Ty>),
    Variant(Vec<(String, Option<Ty>)>),
    Enum(Vec<String>),
    Option(Box<Ty>),
    Result(Option<Box<Ty>>, Option<Box<Ty>>),
    Flags(Vec<String>),
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Int {
    pub(super) signed: bool,
    pub(super) bits: u32,
}

/// Largest safe integer. A double represents this integer, its successor and all smaller positive integers exactly.
/// Larger integers are not safe as JSON numbers.
pub(super) const EXACT_MAX: i128 = (1 << 53) - 1;

impl Int {
    pub(super) fn min(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }
    pub(super) fn max(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }
    /// Returns true if the type has values that a double cannot represent exactly. Such values are written as
    /// strings of digits.
    pub(super) fn is_wide(self) -> bool {
        self.bits == 64
    }
    pub(super) fn type_name(self) -> String {
        format!("{}{}", if self.signed { 's' } else { 'u' }, self.bits)
    }
}

impl Ty {
    /// Returns true if `null` may stand for a value of this type. An option of such a type is therefore written as
    /// `{"some": …}`.
    pub(super) fn may_be_null(&self) -> bool {
        matches!(self, Ty::Option(_))
    }

    /// Formats the type in WIT syntax. The text contains no type names, because a component does not keep them.
    pub(super) fn wit(&self) -> String {
        let of = |ty: &Option<Box<Ty>>| ty.as_ref().map_or_else(|| "_".to_owned(), |ty| ty.wit());
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int(int) => int.type_name(),
            Ty::F32 => "f32".into(),
            Ty::F64 => "f64".into(),
            Ty::Char => "char".into(),
            Ty::String => "string".into(),
            Ty::Bytes => "list<u8>".into(),
            Ty::List(item) => format!("list<{}>", item.wit()),
            Ty::Array(item, len) => format!("list<{}, {len}>", item.wit()),
            Ty::Record(fields) => {
                let fields: Vec<_> = fields.iter().map(|(name, ty)| format!("{name}: {}", ty.wit())).collect();
                format!("record {{ {} }}", fields.join(", "))
            }
            Ty::Tuple(items) => format!("tuple<{}>", items.iter().map(Ty::wit).collect::<Vec<_>>().join(", ")),
            Ty::Variant(cases) => {
                let case = |(name, ty): &(String, Option<Ty>)| match ty {
                    Some(ty) => format!("{name}({})", ty.wit()),
                    None => name.clone(),
                };
                format!("variant {{ {} }}", cases.iter().map(case).collect::<Vec<_>>().join(", "))
            }
            Ty::Enum(names) => format!("enum {{ {} }}", names.join(", ")),
            Ty::Option(inner) => format!("option<{}>", inner.wit()),
            Ty::Result(None, None) => "result".into(),
            Ty::Result(ok, None) => format!("result<{}>", of(ok)),
            Ty::Result(ok, err) => format!("result<{}, {}>", of(ok), of(err)),
            Ty::Flags(names) => format!("flags {{ {} }}", names.join(", ")),
        }
    }
}

/// Parameters and result of a function.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FunctionSignature {
    pub(super) params: Vec<(String, Ty)>,
    pub(super) result: Option<Ty>,
}

impl FunctionSignature {
    /// Type of the operator's answer. For a `result`, this is the type of its success case.
    pub(super) fn answer_type(&self) -> Option<&Ty> {
        match &self.result {
            Some(Ty::Result(ok, _)) => ok.as_deref(),
            other => other.as_ref(),
        }
    }

    /// Formats the signature in WIT syntax. A long signature is truncated.
    pub(super) fn wit(&self) -> String {
        const CHARACTERS_MAX: usize = 300;
        let params: Vec<_> = self.params.iter().map(|(name, ty)| format!("{name}: {}", ty.wit())).collect();
        let result = self.result.as_ref().map(|ty| format!(" -> {}", ty.wit())).unwrap_or_default();
        let text = format!("func({}){result}", params.join(", "));
        truncate::at_characters(&text, CHARACTERS_MAX).to_string()
    }
}
