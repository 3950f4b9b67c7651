//! Builds components from WIT text. Every function traps.

use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, Instruction,
    MemorySection, MemoryType, Module, TypeSection, ValType,
};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Resolve, WorldItem};

/// Builds a component for the first world of a WIT text.
pub(crate) fn component(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("made.wit", wit).unwrap();
    let world = *resolve.packages[package].worlds.values().next().expect("the text has a world");
    let mut core = Core::default();
    let all = [(true, &resolve.worlds[world].imports), (false, &resolve.worlds[world].exports)];
    for (is_import, items) in all {
        for (key, item) in items {
            let name = resolve.name_world_key(key);
            match item {
                WorldItem::Function(func) => core.function(&resolve, is_import, None, func),
                WorldItem::Interface { id, .. } => {
                    for func in resolve.interfaces[*id].functions.values() {
                        core.function(&resolve, is_import, Some(&name), func);
                    }
                }
                WorldItem::Type { .. } => {}
            }
        }
    }
    core.defined("cabi_realloc", &[ValType::I32; 4], &[ValType::I32]);
    let mut module = core.finish();
    wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8).unwrap();
    wit_component::ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

#[derive(Default)]
struct Core {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
    imported: u32,
    defined: u32,
}

impl Core {
    fn function(&mut self, resolve: &Resolve, is_import: bool, interface: Option<&str>, func: &wit_parser::Function) {
        let variant = if is_import { AbiVariant::GuestImport } else { AbiVariant::GuestExport };
        let signature = resolve.wasm_signature(variant, func);
        let core = |types: &[WasmType]| -> Vec<ValType> {
            let one = |ty: &WasmType| match ty {
                WasmType::I64 | WasmType::PointerOrI64 => ValType::I64,
                WasmType::F32 => ValType::F32,
                WasmType::F64 => ValType::F64,
                WasmType::I32 | WasmType::Pointer | WasmType::Length => ValType::I32,
            };
            types.iter().map(one).collect()
        };
        let (params, results) = (core(&signature.params), core(&signature.results));
        if is_import {
            let ty = self.types.len();
            self.types.ty().function(params, results);
            self.imports.import(interface.unwrap_or("$root"), &func.name, EntityType::Function(ty));
            self.imported += 1;
            return;
        }
        let name = interface.map_or_else(|| func.name.clone(), |interface| format!("{interface}#{}", func.name));
        self.defined(&name, &params, &results);
    }

    fn defined(&mut self, name: &str, params: &[ValType], results: &[ValType]) {
        let ty = self.types.len();
        self.types.ty().function(params.iter().copied(), results.iter().copied());
        self.functions.function(ty);
        // All imported functions are counted before this point. They have the first function indices, so the defined
        // functions follow them.
        self.exports.export(name, ExportKind::Func, self.imported + self.defined);
        self.defined += 1;
        let mut body = Function::new([]);
        body.instruction(&Instruction::Unreachable).instruction(&Instruction::End);
        self.code.function(&body);
    }

    fn finish(mut self) -> Vec<u8> {
        let mut memories = MemorySection::new();
        memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
        self.exports.export("memory", ExportKind::Memory, 0);
        let mut module = Module::new();
        module
            .section(&self.types)
            .section(&self.imports)
            .section(&self.functions)
            .section(&memories)
            .section(&self.exports)
            .section(&self.code);
        module.finish()
    }
}
