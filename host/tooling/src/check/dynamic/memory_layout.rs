//! Rewrites a component so that its memory has another layout. The stack begins lower, the heap begins higher, and
//! memory that was never written is not zero. In practice, a new compiler version or an additional variable may change
//! the layout.
//!
//! The result of a step must not depend on the layout. Three kinds of step break this rule. One outputs an address.
//! Another iterates over a hash map with an address as seed. The third reads memory that was never written.

use std::ops::Range;

use latchwork_core::model::manifest::Limits;
use wasm_encoder::{Encode, Instruction};
use wasmparser::{
    BinaryReader, ExportSectionReader, ExternalKind, GlobalSectionReader, ImportSectionReader, Name, NameSectionReader,
    Operator, TypeRef,
};

use crate::check::dynamic::used_memory::start_function;

/// Another layout of the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLayout {
    /// Number of bytes by which the stack begins lower. The number is a multiple of the stack alignment of compilers.
    stack_shift: i32,
    /// Number of allocated bytes at the beginning of the heap.
    heap_bytes: i32,
    /// True if the heap begins with free blocks of many sizes. Later allocations can then have lower addresses than earlier
    /// ones: allocators fill the smallest block that fits, and of equal blocks the one that became free last.
    has_holes: bool,
}

/// The layouts with which a step is compared. There are several layouts, because in a single layout the order of a hash
/// map can stay the same by chance.
pub(crate) const LAYOUTS: [MemoryLayout; 4] = [
    MemoryLayout { stack_shift: 2032, heap_bytes: 4_096, has_holes: false },
    MemoryLayout { stack_shift: 4080, heap_bytes: 12_304, has_holes: true },
    MemoryLayout { stack_shift: 6128, heap_bytes: 1_040, has_holes: false },
    MemoryLayout { stack_shift: 1008, heap_bytes: 24_592, has_holes: true },
];
/// Maximum size of a component that is compared in all layouts, in bytes. A larger component is compared in the first
/// layout alone, because the component must be compiled again for each layout.
const ALL_LAYOUTS_COMPONENT_MAX: usize = 1 << 20;

/// Returns the layouts with which a component of this size is compared.
pub(crate) fn layouts(component_bytes: usize) -> &'static [MemoryLayout] {
    if component_bytes <= ALL_LAYOUTS_COMPONENT_MAX { &LAYOUTS } else { &LAYOUTS[..1] }
}

/// Minimum initial value of the stack pointer. This value is greater than the largest shift and the fill together. A
/// module with a lower value has no stack or an unknown kind of stack, so the module is not changed.
const STACK_BYTES_MIN: i32 = 16_384;
/// Maximum size of a component that is rewritten, in bytes. A larger component is an interpreter with a snapshot of its
/// memory. The comparison with another build (D065) finds results that depend on the snapshot.
const COMPONENT_MAX: usize = 8 << 20;
/// Number of additional bytes of memory that a rewritten component may need.
const EXTRA_MEMORY_BYTES: u64 = 7 * 65_536;

/// Returns limits with more fuel and more memory. In another layout, the seed of a hash map may change, and the step
/// may need more fuel. An allocator may need more pages.
pub(crate) fn with_more_room(limits: &Limits) -> Limits {
    Limits {
        fuel: limits.fuel.saturating_mul(2),
        memory_bytes: limits.memory_bytes.saturating_add(EXTRA_MEMORY_BYTES),
        ..*limits
    }
}

/// Names used by compilers and component tools.
const STACK_POINTER: &str = "__stack_pointer";
const REALLOC: &str = "cabi_realloc";

/// Ids of sections.
mod section {
    pub(super) const CUSTOM: u8 = 0;
    pub(super) const TYPE: u8 = 1;
    pub(super) const IMPORT: u8 = 2;
    pub(super) const FUNCTION: u8 = 3;
    pub(super) const GLOBAL: u8 = 6;
    pub(super) const EXPORT: u8 = 7;
    pub(super) const START: u8 = 8;
    pub(super) const CODE: u8 = 10;
    /// Sections that follow the start section: elements, code, data and data count.
    pub(super) const AFTER_START: [u8; 4] = [9, 10, 11, 12];
    /// Ids of sections of a component.
    pub(super) const CORE_MODULE: u8 = 1;
    pub(super) const COMPONENT: u8 = 4;
}

/// Length of the magic number and the version, in bytes.
const HEADER: usize = 8;
const DEPTH_MAX: usize = 8;

/// Returns the component with another memory layout. Returns `None` if no module of the component can be changed.
pub(crate) fn move_memory(bytes: &[u8], layout: MemoryLayout) -> Option<Vec<u8>> {
    if bytes.len() > COMPONENT_MAX {
        return None;
    }
    component(bytes, layout, 0)
}

fn component(bytes: &[u8], layout: MemoryLayout, depth: usize) -> Option<Vec<u8>> {
    let mut out = bytes.get(..HEADER)?.to_vec();
    let mut is_other = false;
    for (id, range) in sections(bytes)? {
        let body = bytes.get(range)?;
        let other = match id {
            section::CORE_MODULE => module(body, layout),
            section::COMPONENT if depth < DEPTH_MAX => component(body, layout, depth + 1),
            _ => None,
        };
        is_other |= other.is_some();
        write_section(&mut out, id, other.as_deref().unwrap_or(body));
    }
    is_other.then_some(out)
}

/// Returns the id and the range of the contents of each section.
fn sections(bytes: &[u8]) -> Option<Vec<(u8, Range<usize>)>> {
    let mut reader = BinaryReader::new(bytes.get(HEADER..)?, HEADER);
    let mut sections = Vec::new();
    while !reader.eof() {
        let id = reader.read_u8().ok()?;
        let size = reader.read_var_u32().ok()? as usize;
        let start = HEADER + reader.current_position();
        reader.read_bytes(size).ok()?;
        sections.push((id, start..start + size));
    }
    Some(sections)
}

fn write_section(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    out.push(id);
    body.encode(out);
}

/// Facts about a core module that the rewrite needs.
#[derive(Default)]
struct ModuleFacts {
    types: u32,
    imported_functions: u32,
    functions: u32,
    realloc: Option<u32>,
    has_start: bool,
    /// Range of the expression that initializes the stack pointer, and the value of the expression.
    stack: Option<(Range<usize>, i32)>,
}

fn module(bytes: &[u8], layout: MemoryLayout) -> Option<Vec<u8>> {
    let all = sections(bytes)?;
    let found = inspect_module(bytes, &all)?;
    let (place, top) = found.stack.clone()?;
    let top = top - layout.stack_shift;
    let mut out = bytes.get(..HEADER)?.to_vec();
    let starts = !found.has_start;
    let start = found.imported_functions + found.functions;
    let mut has_begun = false;
    for (id, range) in all {
        let body = &bytes[range.clone()];
        if starts && !has_begun && section::AFTER_START.contains(&id) {
            let mut index = Vec::new();
            start.encode(&mut index);
            write_section(&mut out, section::START, &index);
            has_begun = true;
        }
        let other = match id {
            section::GLOBAL => {
                let mut other = body[..place.start - range.start].to_vec();
                Instruction::I32Const(top).encode(&mut other);
                Instruction::End.encode(&mut other);
                other.extend(&bytes[place.end..range.end]);
                Some(other)
            }
            section::TYPE if starts => append_element(body, &[0x60, 0, 0]),
            section::FUNCTION if starts => {
                let mut index = Vec::new();
                found.types.encode(&mut index);
                append_element(body, &index)
            }
            section::CODE if starts => {
                let mut code = Vec::new();
                start_function(top, found.realloc, layout.heap_bytes, layout.has_holes).encode(&mut code);
                append_element(body, &code)
            }
            _ => None,
        };
        write_section(&mut out, id, other.as_deref().unwrap_or(body));
    }
    Some(out)
}

/// Appends an element to the encoded WebAssembly vector in `body`.
fn append_element(body: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    let mut reader = BinaryReader::new(body, 0);
    let count = reader.read_var_u32().ok()?;
    let mut out = Vec::new();
    count.checked_add(1)?.encode(&mut out);
    out.extend(&body[reader.current_position()..]);
    out.extend(element);
    Some(out)
}

fn inspect_module(bytes: &[u8], all: &[(u8, Range<usize>)]) -> Option<ModuleFacts> {
    let mut found = ModuleFacts::default();
    let mut imported_globals = 0;
    let mut named = None;
    // Mutable globals initialized with a constant: index, range of the expression, and constant.
    let mut globals: Vec<(u32, Range<usize>, i32)> = Vec::new();
    for (id, range) in all {
        let reader = || BinaryReader::new(&bytes[range.clone()], range.start);
        let count = || reader().read_var_u32().ok();
        match *id {
            section::TYPE => found.types = count()?,
            section::IMPORT => {
                for import in ImportSectionReader::new(reader()).ok()?.into_imports() {
                    match import.ok()?.ty {
                        TypeRef::Func(_) | TypeRef::FuncExact(_) => found.imported_functions += 1,
                        TypeRef::Global(_) => imported_globals += 1,
                        _ => {}
                    }
                }
            }
            section::FUNCTION => found.functions = count()?,
            section::GLOBAL => {
                for (n, global) in GlobalSectionReader::new(reader()).ok()?.into_iter().enumerate() {
                    let global = global.ok()?;
                    let place = global.init_expr.get_binary_reader().range();
                    let mut code = global.init_expr.get_operators_reader();
                    let is_number = global.ty.mutable && !global.ty.shared;
                    if let (true, Ok(Operator::I32Const { value }), Ok(Operator::End)) =
                        (is_number, code.read(), code.read())
                    {
                        globals.push((imported_globals + n as u32, place, value));
                    }
                }
            }
            section::EXPORT => {
                for export in ExportSectionReader::new(reader()).ok()?.into_iter() {
                    let export = export.ok()?;
                    match (export.name, export.kind) {
                        (REALLOC, ExternalKind::Func | ExternalKind::FuncExact) => found.realloc = Some(export.index),
                        (STACK_POINTER, ExternalKind::Global) => named = Some(export.index),
                        _ => {}
                    }
                }
            }
            section::START => found.has_start = true,
            section::CUSTOM => named = named.or_else(|| stack_pointer_from_names(reader())),
            _ => {}
        }
    }
    // Uses the first global if the module has no names, because linkers put the stack pointer first.
    let index = named.unwrap_or(imported_globals);
    let (_, place, top) = globals.into_iter().find(|(at, ..)| *at == index)?;
    found.stack = (top % 16 == 0 && top >= STACK_BYTES_MIN).then_some((place, top));
    Some(found)
}

/// Returns the index of the stack pointer from a name section, or `None` for any other custom section.
fn stack_pointer_from_names(mut reader: BinaryReader<'_>) -> Option<u32> {
    if reader.read_string().ok()? != "name" {
        return None;
    }
    let names = NameSectionReader::new(reader);
    for name in names.into_iter().map_while(Result::ok) {
        if let Name::Global(map) = name {
            let mut namings = map.into_iter().map_while(Result::ok);
            return namings.find(|naming| naming.name == STACK_POINTER).map(|naming| naming.index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::check::dynamic::used_memory::STACK_FILL_BYTES;
    use wasm_encoder::{
        CodeSection, ConstExpr, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
        MemorySection, MemoryType, Module, ModuleSection, NameMap, NameSection, StartSection, TypeSection, ValType,
    };
    use wasmparser::Validator;

    use super::*;

    /// A module with the stack pointer and another mutable global.
    struct ModuleBuilder {
        top: i32,
        realloc: bool,
        names: bool,
        start: bool,
        pointer_first: bool,
    }

    const USUAL: ModuleBuilder =
        ModuleBuilder { top: 65_536, realloc: true, names: true, start: false, pointer_first: false };

    impl ModuleBuilder {
        fn bytes(&self) -> Vec<u8> {
            let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
            types.ty().function([ValType::I32; 4], [ValType::I32]);
            types.ty().function([], []);
            functions.function(0).function(1);
            let mut realloc = Function::new([]);
            realloc.instruction(&Instruction::I32Const(70_000)).instruction(&Instruction::End);
            let mut nothing = Function::new([]);
            nothing.instruction(&Instruction::End);
            code.function(&realloc).function(&nothing);
            let mut memories = MemorySection::new();
            memories.memory(MemoryType {
                minimum: 2,
                maximum: None,
                memory64: false,
                shared: false,
                page_size_log2: None,
            });
            let mut globals = GlobalSection::new();
            let ty = GlobalType { val_type: ValType::I32, mutable: true, shared: false };
            let numbers = if self.pointer_first { [self.top, 1_048_576] } else { [1_048_576, self.top] };
            for number in numbers {
                globals.global(ty, &ConstExpr::i32_const(number));
            }
            let mut exports = ExportSection::new();
            if self.realloc {
                exports.export(REALLOC, ExportKind::Func, 0);
            }
            let mut module = Module::new();
            module.section(&types).section(&functions).section(&memories).section(&globals).section(&exports);
            if self.start {
                module.section(&StartSection { function_index: 1 });
            }
            module.section(&code);
            if self.names {
                let mut map = NameMap::new();
                map.append(u32::from(!self.pointer_first), STACK_POINTER);
                let mut names = NameSection::new();
                names.globals(&map);
                module.section(&names);
            }
            let mut component = wasm_encoder::Component::new();
            component.section(&ModuleSection(&module));
            component.finish()
        }
    }

    /// Reads the only module of a component. Returns three facts: the initial values of the globals, true if there is a
    /// start section, and the number of functions.
    fn read(bytes: &[u8]) -> (Vec<i32>, bool, usize) {
        Validator::new().validate_all(bytes).unwrap();
        let (mut numbers, mut starts, mut bodies) = (vec![], false, 0);
        for payload in wasmparser::Parser::new(0).parse_all(bytes) {
            match payload.unwrap() {
                wasmparser::Payload::GlobalSection(section) => {
                    for global in section {
                        let Operator::I32Const { value } =
                            global.unwrap().init_expr.get_operators_reader().read().unwrap()
                        else {
                            panic!()
                        };
                        numbers.push(value);
                    }
                }
                wasmparser::Payload::StartSection { .. } => starts = true,
                wasmparser::Payload::CodeSectionEntry(_) => bodies += 1,
                _ => {}
            }
        }
        (numbers, starts, bodies)
    }

    /// I56: a rewritten component has a lower stack and a start function that fills memory.
    #[test]
    fn moved_component_has_lower_stack_and_filled_memory() {
        let bytes = USUAL.bytes();
        assert_eq!(read(&bytes), (vec![1_048_576, 65_536], false, 2));
        for layout in LAYOUTS {
            let moved = move_memory(&bytes, layout).unwrap();
            assert_eq!(read(&moved), (vec![1_048_576, 65_536 - layout.stack_shift], true, 3));
            assert!(layout.stack_shift + STACK_FILL_BYTES <= STACK_BYTES_MIN && layout.stack_shift % 16 == 0);
        }
        let (layout, shift) = (LAYOUTS[0], LAYOUTS[0].stack_shift);
        let unnamed = ModuleBuilder { names: false, pointer_first: true, ..USUAL }.bytes();
        assert_eq!(read(&move_memory(&unnamed, layout).unwrap()), (vec![65_536 - shift, 1_048_576], true, 3));
        let without = ModuleBuilder { realloc: false, ..USUAL }.bytes();
        assert_eq!(read(&move_memory(&without, layout).unwrap()), (vec![1_048_576, 65_536 - shift], true, 3));
        // A module that already has a start section keeps its start function, and no fill function is added.
        let begins = ModuleBuilder { start: true, ..USUAL }.bytes();
        assert_eq!(read(&move_memory(&begins, layout).unwrap()), (vec![1_048_576, 65_536 - shift], true, 2));
    }

    /// I56: a component whose stack is not recognized must not be rewritten. Damaged bytes must not cause a panic.
    #[test]
    fn component_without_known_stack_is_unchanged() {
        for top in [0, 8_192, 65_537, -16] {
            assert_eq!(move_memory(&ModuleBuilder { top, ..USUAL }.bytes(), LAYOUTS[0]), None, "{top}");
        }
        assert_eq!(move_memory(b"", LAYOUTS[0]), None);
        let bytes = USUAL.bytes();
        for end in 0..bytes.len() {
            let _ = move_memory(&bytes[..end], LAYOUTS[0]);
            let mut damaged = bytes.clone();
            damaged[end] ^= 0x55;
            let _ = move_memory(&damaged, LAYOUTS[0]);
        }
    }
}
