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
    /// Numbers of the effects in `wit/plugin.wit`, from 0 for `read-only` to 4 for `external-send`.
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
    /// Calls that the built code makes. Each entry has three names: an exported function, the interface of the import
    /// that this function calls, and the imported function.
    pub(crate) calls: &'a [(&'a str, &'a str, &'a str)],
    /// True if the module contains the names of its functions.
    pub(crate) names: bool,
    /// Body of an additional function. No other function calls it. Tests use the body to put a WebAssembly
    /// feature into the component.
    pub(crate) unused_body: &'a [Instruction<'a>],
    /// True if the function of `unused_body` runs when the component is instantiated.
    pub(crate) runs_on_instantiation: bool,
    /// JSON text that `run` returns. `None`: `run` traps.
    pub(crate) answer: Option<&'static str>,
    /// Instructions of `describe` before it returns.
    pub(crate) describe_body: &'a [Instruction<'a>],
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
    answer: None,
    describe_body: &[],
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
        let (data, manifest, answer) = self.manifest_data();
        let mut module = ModuleBuilder::new(self);
        let imported = module.add_imports();
        let helpers = module.add_helpers(&imported);
        module.add_exports(&helpers, manifest, answer);
        module.add_realloc();
        module.add_unused_body();
        module.finish(data)
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

    /// Returns the bytes in memory, the address of the manifest, and the address of the result of `run`.
    fn manifest_data(&self) -> (Vec<u8>, u32, Option<u32>) {
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
        let answer = self.answer.map(|answer| {
            let [start, len] = text(&mut data, answer.as_bytes());
            let result: Vec<u8> = [0, start, len].into_iter().flat_map(u32::to_le_bytes).collect();
            text(&mut data, &result)[0]
        });
        (data, at, answer)
    }
}

/// Function that the module imports.
struct ImportedFunction {
    interface: String,
    name: String,
    signature: WasmSignature,
}

/// Function between an export and an import: the export `export` calls it, and it calls the import.
struct Helper<'a> {
    export: &'a str,
    index: u32,
}

/// Sections of a core module that is being built.
struct ModuleBuilder<'a> {
    spec: &'a ComponentSpec<'a>,
    resolve: Resolve,
    world: wit_parser::WorldId,
    types: TypeSection,
    type_count: u32,
    imports: ImportSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
    names: NameMap,
    /// Index of the next function.
    next: u32,
}

impl<'a> ModuleBuilder<'a> {
    fn new(spec: &'a ComponentSpec<'a>) -> Self {
        let (resolve, world) = spec.resolve_wit();
        Self {
            spec,
            resolve,
            world,
            types: TypeSection::new(),
            type_count: 0,
            imports: ImportSection::new(),
            functions: FunctionSection::new(),
            exports: ExportSection::new(),
            code: CodeSection::new(),
            names: NameMap::new(),
            next: 0,
        }
    }

    /// Adds a type and returns its index.
    fn add_type(&mut self, params: Vec<ValType>, results: Vec<ValType>) -> u32 {
        self.types.ty().function(params, results);
        self.type_count += 1;
        self.type_count - 1
    }

    fn add_signature(&mut self, signature: &WasmSignature) -> u32 {
        let of = |types: &[WasmType]| types.iter().map(val_type).collect::<Vec<_>>();
        self.add_type(of(&signature.params), of(&signature.results))
    }

    /// Adds a function with its name in the name section, and returns its index.
    fn add_function(&mut self, ty: u32, body: &[Instruction<'_>], name: &str) -> u32 {
        self.functions.function(ty);
        let mut function = Function::new([]);
        for instruction in body {
            function.instruction(instruction);
        }
        function.instruction(&Instruction::End);
        self.code.function(&function);
        self.names.append(self.next, name);
        self.next += 1;
        self.next - 1
    }

    /// Imports the functions that the component calls.
    fn add_imports(&mut self) -> Vec<ImportedFunction> {
        let mut imported = Vec::new();
        for (key, item) in &self.resolve.worlds[self.world].imports {
            let WorldItem::Interface { id, .. } = item else { continue };
            let interface = self.resolve.name_world_key(key);
            for function in self.resolve.interfaces[*id].functions.values() {
                if self.spec.calls.iter().any(|(_, of, name)| *of == interface && *name == function.name) {
                    let signature = self.resolve.wasm_signature(AbiVariant::GuestImport, function);
                    let (interface, name) = (interface.clone(), function.name.clone());
                    imported.push(ImportedFunction { interface, name, signature });
                }
            }
        }
        for function in &imported {
            let ty = self.add_signature(&function.signature);
            self.imports.import(&function.interface, &function.name, EntityType::Function(ty));
        }
        self.next = imported.len() as u32;
        imported
    }

    /// Adds a helper for each call: the export calls the helper, and the helper calls the import. In real components,
    /// too, there are functions between an export and an import.
    fn add_helpers(&mut self, imported: &[ImportedFunction]) -> Vec<Helper<'a>> {
        let spec = self.spec;
        let mut helpers = Vec::new();
        for (number, (export, interface, name)) in spec.calls.iter().enumerate() {
            let ty = self.add_type(vec![], vec![]);
            let target = imported.iter().position(|of| of.interface == *interface && of.name == *name);
            let target = target.unwrap_or_else(|| panic!("the world imports no {interface}#{name}"));
            let signature = &imported[target].signature;
            let mut body: Vec<_> = signature.params.iter().map(zero_of).collect();
            body.push(Instruction::Call(target as u32));
            body.extend(signature.results.iter().map(|_| Instruction::Drop));
            // A mangled Rust name: `made::helper::<hash>`.
            let index = self.add_function(ty, &body, &format!("_ZN4made7helper{number}17h0123456789abcdefE"));
            helpers.push(Helper { export, index });
        }
        helpers
    }

    /// Adds the functions of the world. `describe` returns the address of the manifest. Each other function runs its
    /// helpers, then returns its answer or traps.
    fn add_exports(&mut self, helpers: &[Helper<'_>], manifest: u32, answer: Option<u32>) {
        let mut exported = Vec::new();
        for (key, item) in &self.resolve.worlds[self.world].exports {
            let list: Vec<_> = match item {
                WorldItem::Interface { id, .. } => self.resolve.interfaces[*id].functions.values().collect(),
                WorldItem::Function(function) => vec![function],
                WorldItem::Type { .. } => continue,
            };
            for function in list {
                let export = match key {
                    WorldKey::Interface(_) => format!("{}#{}", self.resolve.name_world_key(key), function.name),
                    WorldKey::Name(_) => function.name.clone(),
                };
                let signature = self.resolve.wasm_signature(AbiVariant::GuestExport, function);
                exported.push((export, function.name.clone(), signature));
            }
        }
        for (export, name, signature) in exported {
            let ty = self.add_signature(&signature);
            let calls = helpers.iter().filter(|helper| helper.export == name);
            let mut body: Vec<_> = calls.map(|helper| Instruction::Call(helper.index)).collect();
            if name == "describe" {
                body.extend(self.spec.describe_body.iter().cloned());
            }
            body.push(match (name.as_str(), answer) {
                ("describe", _) => Instruction::I32Const(manifest as i32),
                ("run", Some(answer)) => Instruction::I32Const(answer as i32),
                _ => Instruction::Unreachable,
            });
            let index = self.add_function(ty, &body, &format!("{}_of_the_plugin", name.replace('-', "_")));
            self.exports.export(&export, ExportKind::Func, index);
        }
    }

    /// Adds a function that returns an address beyond all other data.
    fn add_realloc(&mut self) {
        let ty = self.add_type(vec![ValType::I32; 4], vec![ValType::I32]);
        let index = self.add_function(ty, &[Instruction::I32Const(1 << 20)], "cabi_realloc");
        self.exports.export("cabi_realloc", ExportKind::Func, index);
    }

    fn add_unused_body(&mut self) {
        if !self.spec.unused_body.is_empty() {
            let ty = self.add_type(vec![], vec![]);
            self.add_function(ty, self.spec.unused_body, "uses_a_feature");
        }
    }

    /// Returns the module with its memory and this data. The world is embedded in a custom section.
    fn finish(mut self, data: Vec<u8>) -> Vec<u8> {
        let spec = self.spec;
        let (mut memories, minimum) =
            (MemorySection::new(), 64 + ((data.len() + spec.ballast) as u64).div_ceil(65_536));
        memories.memory(MemoryType { minimum, maximum: None, memory64: false, shared: false, page_size_log2: None });
        if let Some(memory) = spec.memory {
            memories.memory(memory);
        }
        self.exports.export("memory", ExportKind::Memory, 0);
        let mut segments = DataSection::new();
        segments.active(0, &ConstExpr::i32_const(DATA_ADDRESS as i32), data);
        if spec.ballast > 0 {
            segments.active(0, &ConstExpr::i32_const(2 << 20), vec![7; spec.ballast]);
        }
        let mut module = Module::new();
        module.section(&self.types).section(&self.imports).section(&self.functions);
        module.section(&memories).section(&self.exports);
        if spec.runs_on_instantiation {
            // The last function has the body `unused_body`.
            module.section(&StartSection { function_index: self.next - 1 });
        }
        module.section(&self.code).section(&segments);
        if spec.names {
            let mut section = NameSection::new();
            section.functions(&self.names);
            module.section(&section);
        }
        let mut bytes = module.finish();
        let utf8 = wit_component::StringEncoding::UTF8;
        wit_component::embed_component_metadata(&mut bytes, &self.resolve, self.world, utf8)
            .expect("the world can be encoded");
        bytes
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
