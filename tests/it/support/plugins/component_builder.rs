//! Builds components for tests, with a chosen world and manifest, and with code that calls chosen imports.
//! The core module is built by hand and becomes a component through the same tools that build plugins.

use std::path::Path;

use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    ImportSection, Instruction, MemorySection, MemoryType, Module, NameMap, NameSection, StartSection, TypeSection,
    ValType,
};
use wit_parser::abi::{AbiVariant, WasmSignature, WasmType};
use wit_parser::{Resolve, WorldItem, WorldKey};

/// One operator of a built manifest.
#[derive(Clone, Copy)]
pub(crate) struct OperatorSpec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: &'static str,
    pub(crate) output: &'static str,
    /// Discriminants in `wit/plugin.wit`, from 0 for read-only to 4 for external-send.
    pub(crate) effects: &'static [u8],
    /// 0 for pure, 1 for stable, 2 for external.
    pub(crate) determinism: u8,
    pub(crate) window: u32,
    pub(crate) settling: u32,
    pub(crate) outcome_status: Option<&'static str>,
}

/// An operator that breaks no rule.
pub(crate) const VALID_OPERATOR: OperatorSpec = OperatorSpec {
    name: "Made.Run",
    description: "Does nothing.",
    input: "true",
    output: "true",
    effects: &[0],
    determinism: 2,
    window: 0,
    settling: 0,
    outcome_status: None,
};

/// Description of a component to build.
pub(crate) struct ComponentSpec<'a> {
    /// WIT text that has the world `made` in `package test:made`, and any further packages.
    pub(crate) wit: &'a str,
    pub(crate) version: &'static str,
    pub(crate) operators: &'a [OperatorSpec],
    /// Calls that the built code makes. Each entry names an exported function, then the interface and the
    /// function of the import that this exported function calls.
    pub(crate) calls: &'a [(&'a str, &'a str, &'a str)],
    /// True if the module contains the names of its functions.
    pub(crate) names: bool,
    /// Body of an additional function. No other function calls it. Tests use the body to put a WebAssembly
    /// feature into the component.
    pub(crate) unused_body: &'a [Instruction<'a>],
    /// True if the function of `unused_body` runs when the component is instantiated.
    pub(crate) runs_on_instantiation: bool,
    /// Type of a second memory, if the module has one.
    pub(crate) memory: Option<MemoryType>,
    /// Number of unused data bytes.
    pub(crate) ballast: usize,
}

/// A step that breaks no rule.
pub(crate) const VALID_STEP: ComponentSpec<'static> = ComponentSpec {
    wit: "package test:made; world made { include latchwork:plugin/step@0.1.0; }",
    version: "1.0.0",
    operators: &[VALID_OPERATOR],
    calls: &[],
    names: true,
    unused_body: &[],
    runs_on_instantiation: false,
    memory: None,
    ballast: 0,
};

/// A tool that breaks no rule.
pub(crate) const VALID_TOOL: ComponentSpec<'static> =
    ComponentSpec { wit: "package test:made; world made { include latchwork:plugin/tool@0.1.0; }", ..VALID_STEP };

/// WIT of the one WASI interface that test components import.
pub(crate) const WALL_CLOCK_WIT: &str = "package wasi:clocks@0.2.6 { interface wall-clock { record datetime { seconds: u64, \
     nanoseconds: u32 } now: func() -> datetime; } }";

/// Memory address of the manifest's data.
const DATA_ADDRESS: u32 = 1024;
/// Size of an operator's record in memory, in bytes.
const OPERATOR_BYTES: usize = 100;

impl ComponentSpec<'_> {
    pub(crate) fn build_module(&self) -> Vec<u8> {
        let (resolve, world) = self.resolve_wit();
        let mut types = TypeSection::new();
        let mut count = 0;
        let mut signature = |types: &mut TypeSection, signature: &WasmSignature| {
            let of = |types: &[WasmType]| types.iter().map(val_type).collect::<Vec<_>>();
            types.ty().function(of(&signature.params), of(&signature.results));
            count += 1;
            count - 1
        };
        let (mut imports, mut functions, mut exports) =
            (ImportSection::new(), FunctionSection::new(), ExportSection::new());
        let (mut code, mut names) = (CodeSection::new(), NameMap::new());
        let mut imported: Vec<(String, String, WasmSignature)> = Vec::new();
        for (key, item) in &resolve.worlds[world].imports {
            let WorldItem::Interface { id, .. } = item else { continue };
            let interface = resolve.name_world_key(key);
            for function in resolve.interfaces[*id].functions.values() {
                let wanted = self.calls.iter().any(|(_, of, name)| *of == interface && *name == function.name);
                if wanted {
                    let abi = resolve.wasm_signature(AbiVariant::GuestImport, function);
                    let ty = signature(&mut types, &abi);
                    imports.import(&interface, &function.name, EntityType::Function(ty));
                    imported.push((interface.clone(), function.name.clone(), abi));
                }
            }
        }
        let mut next = imported.len() as u32;
        // Each call is made by its own helper function. The path from the export to the import then contains
        // a function between the two, as in real components.
        let mut helpers = Vec::new();
        let nothing = WasmSignature { params: vec![], results: vec![], indirect_params: false, retptr: false };
        for (index, (of, interface, function)) in self.calls.iter().enumerate() {
            let ty = signature(&mut types, &nothing);
            functions.function(ty);
            let target = imported.iter().position(|(i, f, _)| i == interface && f == function);
            let target = target.unwrap_or_else(|| panic!("the world imports no {interface}#{function}"));
            let mut body = Function::new([]);
            for param in &imported[target].2.params {
                body.instruction(&zero_of(param));
            }
            body.instruction(&Instruction::Call(target as u32));
            for _ in &imported[target].2.results {
                body.instruction(&Instruction::Drop);
            }
            body.instruction(&Instruction::End);
            code.function(&body);
            // A mangled Rust name: `made::helper::<hash>`.
            names.append(next, &format!("_ZN4made7helper{index}17h0123456789abcdefE"));
            helpers.push((*of, next));
            next += 1;
        }
        let (data, manifest) = self.manifest_data();
        for (key, item) in &resolve.worlds[world].exports {
            let list: Vec<_> = match item {
                WorldItem::Interface { id, .. } => resolve.interfaces[*id].functions.values().collect(),
                WorldItem::Function(function) => vec![function],
                WorldItem::Type { .. } => continue,
            };
            for function in list {
                let abi = resolve.wasm_signature(AbiVariant::GuestExport, function);
                functions.function(signature(&mut types, &abi));
                let mut body = Function::new([]);
                for (_, helper) in helpers.iter().filter(|(of, _)| *of == function.name) {
                    body.instruction(&Instruction::Call(*helper));
                }
                if function.name == "describe" {
                    body.instruction(&Instruction::I32Const(manifest as i32));
                } else {
                    body.instruction(&Instruction::Unreachable);
                }
                body.instruction(&Instruction::End);
                code.function(&body);
                let name = match key {
                    WorldKey::Interface(_) => format!("{}#{}", resolve.name_world_key(key), function.name),
                    WorldKey::Name(_) => function.name.clone(),
                };
                exports.export(&name, ExportKind::Func, next);
                names.append(next, &format!("{}_of_the_plugin", function.name.replace('-', "_")));
                next += 1;
            }
        }
        // The realloc function returns an address beyond all other data.
        types.ty().function([ValType::I32; 4], [ValType::I32]);
        functions.function(count);
        let mut realloc = Function::new([]);
        realloc.instruction(&Instruction::I32Const(1 << 20)).instruction(&Instruction::End);
        code.function(&realloc);
        names.append(next, "cabi_realloc");
        exports.export("cabi_realloc", ExportKind::Func, next);
        if !self.unused_body.is_empty() {
            types.ty().function([], []);
            functions.function(count + 1);
            let mut body = Function::new([]);
            for instruction in self.unused_body {
                body.instruction(instruction);
            }
            body.instruction(&Instruction::End);
            code.function(&body);
            names.append(next + 1, "uses_a_feature");
        }
        let mut memories = MemorySection::new();
        let pages = 64 + (self.ballast as u64).div_ceil(65_536);
        memories.memory(MemoryType {
            minimum: pages,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        if let Some(memory) = self.memory {
            memories.memory(memory);
        }
        exports.export("memory", ExportKind::Memory, 0);
        let mut segments = DataSection::new();
        segments.active(0, &ConstExpr::i32_const(DATA_ADDRESS as i32), data);
        if self.ballast > 0 {
            segments.active(0, &ConstExpr::i32_const(2 << 20), vec![7; self.ballast]);
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&memories).section(&exports);
        if self.runs_on_instantiation {
            module.section(&StartSection { function_index: next + 1 });
        }
        module.section(&code).section(&segments);
        if self.names {
            let mut section = NameSection::new();
            section.functions(&names);
            module.section(&section);
        }
        let mut bytes = module.finish();
        let utf8 = wit_component::StringEncoding::UTF8;
        wit_component::embed_component_metadata(&mut bytes, &resolve, world, utf8).expect("the world can be encoded");
        bytes
    }

    pub(crate) fn build_component(&self) -> Vec<u8> {
        wit_component::ComponentEncoder::default()
            .module(&self.build_module())
            .expect("the module fits its world")
            .encode()
            .expect("the module becomes a component")
    }

    fn resolve_wit(&self) -> (Resolve, wit_parser::WorldId) {
        let mut resolve = Resolve::default();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
        resolve.push_dir(wit).expect("the interfaces in wit/ are valid");
        let package = resolve.push_str("made.wit", self.wit).expect("the test's interfaces");
        let world = resolve.select_world(&[package], Some("made")).expect("the world `made` exists");
        (resolve, world)
    }

    /// Returns the manifest's bytes in memory and the manifest's address.
    fn manifest_data(&self) -> (Vec<u8>, u32) {
        let mut data = Vec::new();
        let text = |data: &mut Vec<u8>, text: &[u8]| {
            let at = DATA_ADDRESS + data.len() as u32;
            data.extend_from_slice(text);
            data.resize(data.len().next_multiple_of(4), 0);
            [at, text.len() as u32]
        };
        let version = text(&mut data, self.version.as_bytes());
        let mut records = Vec::new();
        for operator in self.operators {
            let mut words: Vec<u32> = Vec::new();
            for part in [operator.name, operator.description, operator.input, operator.output] {
                words.extend(text(&mut data, part.as_bytes()));
            }
            words.extend(text(&mut data, operator.effects));
            words.push(u32::from(operator.determinism));
            words.extend([0, 0, 0]);
            let [at, len] = text(&mut data, operator.outcome_status.unwrap_or_default().as_bytes());
            words.extend([u32::from(operator.outcome_status.is_some()), at, len, operator.window, operator.settling]);
            words.extend([0; 6]);
            let record: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
            assert_eq!(record.len(), OPERATOR_BYTES);
            records.extend(record);
        }
        let list = text(&mut data, &records)[0];
        let manifest = [version[0], version[1], list, self.operators.len() as u32];
        let bytes: Vec<u8> = manifest.into_iter().flat_map(u32::to_le_bytes).collect();
        let at = text(&mut data, &bytes)[0];
        (data, at)
    }
}

fn val_type(ty: &WasmType) -> ValType {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
        WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
        WasmType::F32 => ValType::F32,
        WasmType::F64 => ValType::F64,
    }
}

fn zero_of(ty: &WasmType) -> Instruction<'static> {
    match val_type(ty) {
        ValType::I64 => Instruction::I64Const(0),
        ValType::F32 => Instruction::F32Const(0.0.into()),
        ValType::F64 => Instruction::F64Const(0.0.into()),
        _ => Instruction::I32Const(0),
    }
}
