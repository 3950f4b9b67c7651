//! The same component with its memory laid out otherwise: the stack begins lower, the heap further up, and what was
//! never written holds something. A compiler's next version does as much, and so does one more variable.
//!
//! What a step computes does not depend on it, but where it gives away an address, the order of a hash map whose
//! seed is an address, or memory that it never wrote.

use std::ops::Range;

use wasm_encoder::{BlockType, Encode, Function, Instruction, ValType};
use wasmparser::{
    BinaryReader, ExportSectionReader, ExternalKind, GlobalSectionReader, ImportSectionReader, Name, NameSectionReader,
    Operator, TypeRef,
};

/// So much lower the stack begins; a multiple of what compilers align it to.
const STACK_SHIFT: i32 = 2032;
/// So much of the stack is written before anything runs. The smallest stack that compilers make is larger.
const STACK_WRITTEN: i32 = 8192;
/// Below it there is no stack, or one of a kind that is not known.
const STACK_LEAST: i32 = 16_384;
/// Taken from the heap, written, and given back but for its beginning, which stays.
const HEAP_WRITTEN: i32 = 32_768;
const HEAP_TAKEN: i32 = 4_096;
/// What is written.
const WRITTEN: i32 = 0xA5;
/// Larger components are interpreters with a snapshot of their memory: what they compute lies where it lies, and
/// another build of them shows what depends on that (D065).
const COMPONENT_MAX: usize = 8 << 20;
/// Memory that a moved component may need more.
pub(super) const MEMORY_MORE: u64 = 2 * 65_536;

/// The names that compilers and component tools give.
const STACK_POINTER: &str = "__stack_pointer";
const REALLOC: &str = "cabi_realloc";

/// Numbers of sections.
mod section {
    pub(super) const CUSTOM: u8 = 0;
    pub(super) const TYPE: u8 = 1;
    pub(super) const IMPORT: u8 = 2;
    pub(super) const FUNCTION: u8 = 3;
    pub(super) const GLOBAL: u8 = 6;
    pub(super) const EXPORT: u8 = 7;
    pub(super) const START: u8 = 8;
    pub(super) const CODE: u8 = 10;
    /// Elements, code, data, the number of data.
    pub(super) const AFTER_START: [u8; 4] = [9, 10, 11, 12];
    /// Of a component.
    pub(super) const CORE_MODULE: u8 = 1;
    pub(super) const COMPONENT: u8 = 4;
}

/// Magic and version.
const HEADER: usize = 8;
const DEPTH_MAX: usize = 8;

/// The component with its memory laid out otherwise; none where it has no module that could be.
pub(super) fn moved(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > COMPONENT_MAX {
        return None;
    }
    component(bytes, 0)
}

fn component(bytes: &[u8], depth: usize) -> Option<Vec<u8>> {
    let mut out = bytes.get(..HEADER)?.to_vec();
    let mut is_other = false;
    for (id, range) in sections(bytes)? {
        let body = bytes.get(range)?;
        let other = match id {
            section::CORE_MODULE => module(body),
            section::COMPONENT if depth < DEPTH_MAX => component(body, depth + 1),
            _ => None,
        };
        is_other |= other.is_some();
        put(&mut out, id, other.as_deref().unwrap_or(body));
    }
    is_other.then_some(out)
}

/// Number and contents of each section.
fn sections(bytes: &[u8]) -> Option<Vec<(u8, Range<usize>)>> {
    let mut reader = BinaryReader::new(bytes.get(HEADER..)?, HEADER as u64);
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

fn put(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    out.push(id);
    body.encode(out);
}

/// What is looked for in a core module.
#[derive(Default)]
struct Found {
    types: u32,
    imported_functions: u32,
    functions: u32,
    realloc: Option<u32>,
    has_start: bool,
    /// Where the first value of the stack pointer stands, and what it is.
    stack: Option<(Range<usize>, i32)>,
}

fn module(bytes: &[u8]) -> Option<Vec<u8>> {
    let all = sections(bytes)?;
    let found = find(bytes, &all)?;
    let (place, top) = found.stack.clone()?;
    let top = top - STACK_SHIFT;
    let mut out = bytes.get(..HEADER)?.to_vec();
    let starts = !found.has_start;
    let start = found.imported_functions + found.functions;
    let mut has_begun = false;
    for (id, range) in all {
        let body = &bytes[range.clone()];
        if starts && !has_begun && section::AFTER_START.contains(&id) {
            let mut index = Vec::new();
            start.encode(&mut index);
            put(&mut out, section::START, &index);
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
            section::TYPE if starts => one_more(body, &[0x60, 0, 0]),
            section::FUNCTION if starts => {
                let mut index = Vec::new();
                found.types.encode(&mut index);
                one_more(body, &index)
            }
            section::CODE if starts => {
                let mut code = Vec::new();
                beginning(top, found.realloc).encode(&mut code);
                one_more(body, &code)
            }
            _ => None,
        };
        put(&mut out, id, other.as_deref().unwrap_or(body));
    }
    Some(out)
}

/// A vector with one more element.
fn one_more(body: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    let mut reader = BinaryReader::new(body, 0);
    let count = reader.read_var_u32().ok()?;
    let mut out = Vec::new();
    count.checked_add(1)?.encode(&mut out);
    out.extend(&body[reader.current_position()..]);
    out.extend(element);
    Some(out)
}

/// Writes the unused stack, takes some of the heap, and leaves traces in what it gives back.
fn beginning(top: i32, realloc: Option<u32>) -> Function {
    let mut code = Function::new([(1, ValType::I32)]);
    let mut fill = |from: Instruction<'_>, bytes: i32| {
        code.instruction(&from).instruction(&Instruction::I32Const(WRITTEN)).instruction(&Instruction::I32Const(bytes));
        code.instruction(&Instruction::MemoryFill(0));
    };
    fill(Instruction::I32Const(top - STACK_WRITTEN), STACK_WRITTEN);
    if let Some(realloc) = realloc {
        let call = |code: &mut Function, numbers: &[i32]| {
            for number in numbers {
                code.instruction(&Instruction::I32Const(*number));
            }
            code.instruction(&Instruction::Call(realloc)).instruction(&Instruction::LocalSet(0));
        };
        call(&mut code, &[0, 0, 16, HEAP_WRITTEN]);
        // No memory, no traces.
        code.instruction(&Instruction::LocalGet(0)).instruction(&Instruction::If(BlockType::Empty));
        code.instruction(&Instruction::LocalGet(0))
            .instruction(&Instruction::I32Const(WRITTEN))
            .instruction(&Instruction::I32Const(HEAP_WRITTEN))
            .instruction(&Instruction::MemoryFill(0));
        code.instruction(&Instruction::LocalGet(0));
        call(&mut code, &[HEAP_WRITTEN, 16, HEAP_TAKEN]);
        code.instruction(&Instruction::End);
    }
    code.instruction(&Instruction::End);
    code
}

fn find(bytes: &[u8], all: &[(u8, Range<usize>)]) -> Option<Found> {
    let mut found = Found::default();
    let mut imported_globals = 0;
    let mut named = None;
    // Mutable globals that begin with a number: their index, where it stands, and the number.
    let mut globals: Vec<(u32, Range<usize>, i32)> = Vec::new();
    for (id, range) in all {
        let reader = || BinaryReader::new(&bytes[range.clone()], range.start as u64);
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
                        let place = place.start as usize..place.end as usize;
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
            section::CUSTOM => named = named.or_else(|| of_names(reader())),
            _ => {}
        }
    }
    // Without names: the linker puts the stack pointer first.
    let index = named.unwrap_or(imported_globals);
    let (_, place, top) = globals.into_iter().find(|(at, ..)| *at == index)?;
    found.stack = (top % 16 == 0 && top >= STACK_LEAST).then_some((place, top));
    Some(found)
}

/// The stack pointer's index, if this is a section of names that knows it.
fn of_names(mut reader: BinaryReader<'_>) -> Option<u32> {
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
