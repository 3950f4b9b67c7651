//! Reads the calls in one core module.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use wasmparser::{
    ElementItems, ElementKind, ExternalKind, FuncType, KnownCustom, Name, Operator, Parser, Payload, TypeRef,
};

/// Kind of an import or export of a core module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Function,
    Table,
    Other,
}

/// A call through a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TableCall {
    pub(super) table: u32,
    /// Number of the signature in [`Signatures`]. The number is the same in all modules.
    pub(super) signature: u32,
    /// Index of the table element, if the index is a constant.
    pub(super) slot: Option<u32>,
}

/// Calls in the body of one function.
#[derive(Default)]
pub(super) struct FunctionCalls {
    pub(super) calls: Vec<u32>,
    pub(super) through_table: Vec<TableCall>,
}

/// Functions that an element segment of the module places in a table.
pub(super) struct Segment {
    /// Table for the functions. `None`: the code may place the functions in any table.
    pub(super) table: Option<u32>,
    /// Index of the first element, if the index is a constant.
    pub(super) offset: Option<u32>,
    pub(super) functions: Vec<u32>,
}

/// One core module.
#[derive(Default)]
pub(super) struct Module<'b> {
    pub(super) name: Option<&'b str>,
    /// Module, name and kind of each import, in order.
    pub(super) imports: Vec<(&'b str, &'b str, ItemKind)>,
    pub(super) imported_functions: u32,
    pub(super) imported_tables: u32,
    pub(super) defined_tables: u32,
    /// Signature of each function, imported functions first.
    pub(super) signatures: Vec<u32>,
    pub(super) bodies: Vec<FunctionCalls>,
    pub(super) names: HashMap<u32, &'b str>,
    pub(super) exports: Vec<(&'b str, ItemKind, u32)>,
    pub(super) segments: Vec<Segment>,
    pub(super) start: Option<u32>,
}

/// Numbers for function signatures. Equal signatures have the same number in every module.
#[derive(Default)]
pub(super) struct Signatures(HashMap<FuncType, u32>);

impl Signatures {
    fn of(&mut self, ty: FuncType) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(ty).or_insert(next)
    }
}

impl<'b> Module<'b> {
    pub(super) fn read(bytes: &'b [u8], range: Range<usize>, all: &mut Signatures) -> wasmparser::Result<Self> {
        let mut module = Self::default();
        // Signature of each type, or `None` for a type that is not a function type.
        let mut types: Vec<Option<u32>> = Vec::new();
        let signature =
            |types: &[Option<u32>], index: u32| types.get(index as usize).copied().flatten().unwrap_or(u32::MAX);
        for payload in Parser::new(range.start as u64).parse_all(&bytes[range]) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        for ty in group?.into_types() {
                            types.push(match ty.composite_type.inner {
                                wasmparser::CompositeInnerType::Func(ty) => Some(all.of(ty)),
                                _ => None,
                            });
                        }
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let what = match import.ty {
                            TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                                module.imported_functions += 1;
                                module.signatures.push(signature(&types, ty));
                                ItemKind::Function
                            }
                            TypeRef::Table(_) => {
                                module.imported_tables += 1;
                                ItemKind::Table
                            }
                            _ => ItemKind::Other,
                        };
                        module.imports.push((import.module, import.name, what));
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        module.signatures.push(signature(&types, ty?));
                    }
                }
                Payload::TableSection(section) => module.defined_tables = section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        let what = match export.kind {
                            ExternalKind::Func | ExternalKind::FuncExact => ItemKind::Function,
                            ExternalKind::Table => ItemKind::Table,
                            _ => ItemKind::Other,
                        };
                        module.exports.push((export.name, what, export.index));
                    }
                }
                Payload::StartSection { func, .. } => module.start = Some(func),
                Payload::ElementSection(section) => {
                    for element in section {
                        module.segments.push(segment(element?)?);
                    }
                }
                Payload::CodeSectionEntry(body) => module.bodies.push(calls(&body, &types)?),
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        module.read_names(names);
                    }
                }
                _ => {}
            }
        }
        Ok(module)
    }

    /// Reads the names up to the first damaged part of the name section.
    fn read_names(&mut self, names: wasmparser::NameSectionReader<'b>) {
        for name in names.into_iter().map_while(Result::ok) {
            match name {
                Name::Module { name, .. } => self.name = Some(name),
                Name::Function(map) => {
                    self.names.extend(map.into_iter().map_while(Result::ok).map(|naming| (naming.index, naming.name)));
                }
                _ => {}
            }
        }
    }
}

fn segment(element: wasmparser::Element<'_>) -> wasmparser::Result<Segment> {
    let (table, offset) = match element.kind {
        ElementKind::Active { table_index, offset_expr } => {
            let mut operators = offset_expr.get_operators_reader();
            let first = operators.read()?;
            let alone = matches!(operators.read()?, Operator::End);
            let offset = match first {
                Operator::I32Const { value } if alone => u32::try_from(value).ok(),
                _ => None,
            };
            (Some(table_index.unwrap_or(0)), offset)
        }
        ElementKind::Passive | ElementKind::Declared => (None, None),
    };
    let mut functions = Vec::new();
    match element.items {
        ElementItems::Functions(section) => {
            for function in section {
                functions.push(function?);
            }
        }
        ElementItems::Expressions(_, section) => {
            for expression in section {
                let first = expression?.get_operators_reader().read()?;
                functions.push(match first {
                    Operator::RefFunc { function_index } => function_index,
                    _ => u32::MAX,
                });
            }
        }
    }
    Ok(Segment { table, offset, functions })
}

fn calls(body: &wasmparser::FunctionBody<'_>, types: &[Option<u32>]) -> wasmparser::Result<FunctionCalls> {
    let (mut direct, mut tables) = (BTreeSet::new(), BTreeSet::new());
    let mut constant = None;
    for operator in body.get_operators_reader()? {
        let before = constant.take();
        match operator? {
            Operator::I32Const { value } => constant = u32::try_from(value).ok(),
            // A function whose reference is taken counts as called, because any holder of the reference may
            // call it.
            Operator::Call { function_index }
            | Operator::ReturnCall { function_index }
            | Operator::RefFunc { function_index } => drop(direct.insert(function_index)),
            Operator::CallIndirect { type_index, table_index }
            | Operator::ReturnCallIndirect { type_index, table_index } => {
                let signature = types.get(type_index as usize).copied().flatten().unwrap_or(u32::MAX);
                tables.insert(TableCall { table: table_index, signature, slot: before });
            }
            _ => {}
        }
    }
    Ok(FunctionCalls { calls: direct.into_iter().collect(), through_table: tables.into_iter().collect() })
}
