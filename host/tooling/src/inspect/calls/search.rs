//! Finds a short path to each import, from an export or a start function.

use std::collections::{HashMap, VecDeque};

use crate::inspect::calls::link::{CallTarget, LinkedComponent};
use crate::inspect::calls::module::Module;
use crate::inspect::calls::reachability::{PathFrame, Reachability};
use crate::inspect::names;

/// A function of an instance: number of the instance, number of the function.
type FunctionNode = (usize, u32);

/// Step by which the search first reached a function.
#[derive(Clone, Copy)]
struct SearchStep {
    from: ReachedFrom,
    through_table: bool,
}

#[derive(Clone, Copy)]
enum ReachedFrom {
    Export(usize),
    Start,
    Function(FunctionNode),
}

/// Entry of a table: its index if known, its signature, and the function.
type TableEntry = (Option<u32>, u32, CallTarget);

/// Searches for a path to each import. The paths begin at the functions of the exported interface `from`, or at any
/// export and any start function.
pub(super) fn search(
    linked: &LinkedComponent<'_>,
    from: Option<&str>,
    wanted: &[(&str, Option<&str>)],
) -> Vec<Reachability> {
    let tables = table_entries(linked);
    let mut reached: Vec<Option<Reachability>> = wanted.iter().map(|_| None).collect();
    // A path of calls with known targets is preferred to a shorter path with unknown targets. The first search
    // therefore follows only calls with a known target. The second search also follows calls through tables with an
    // unknown index. The result of the second search is used only for imports that the first search did not reach.
    for indirect in [false, true] {
        let walk = traverse(linked, &tables, from, indirect);
        for ((interface, function), reach) in wanted.iter().zip(&mut reached) {
            if reach.is_some() {
                continue;
            }
            let named = |host: usize| {
                let (of, name) = &linked.hosts[host];
                of == interface && function.is_none_or(|function| function == name)
            };
            // The first match is the nearest, because imports are listed in the order in which the search reached them.
            if let Some((host, last)) = walk.hosts.iter().find(|(host, _)| named(*host)) {
                *reach = Some(path_to_import(linked, &walk, *host, *last));
            }
        }
        if reached.iter().all(Option::is_some) {
            break;
        }
    }
    reached.into_iter().map(|reach| reach.unwrap_or(Reachability::Never)).collect()
}

/// Collects the entries of each table.
fn table_entries(linked: &LinkedComponent<'_>) -> Vec<Vec<TableEntry>> {
    let mut tables = vec![Vec::new(); linked.tables];
    for (number, instance) in linked.instances.iter().enumerate() {
        let module = &linked.modules[instance.module];
        for segment in &module.segments {
            let into: Vec<usize> = match segment.table {
                Some(table) => instance.tables.get(table as usize).copied().into_iter().collect(),
                None => instance.tables.clone(),
            };
            for (index, function) in segment.functions.iter().enumerate() {
                let signature = module.signatures.get(*function as usize).copied();
                let (Some(signature), Some(target)) = (signature, resolve(linked, (number, *function))) else {
                    continue;
                };
                let place = segment.offset.and_then(|offset| offset.checked_add(index as u32));
                for table in &into {
                    tables[*table].push((place, signature, target));
                }
            }
        }
    }
    tables
}

/// Resolves a function of an instance to its own code or to the target of its import.
fn resolve(linked: &LinkedComponent<'_>, (instance, function): FunctionNode) -> Option<CallTarget> {
    let of = &linked.instances[instance];
    match of.functions.get(function as usize) {
        Some(target) => Some(*target),
        None => Some(CallTarget::Code { instance, function }),
    }
}

struct Traversal {
    seen: HashMap<FunctionNode, SearchStep>,
    /// Imports that were reached, each with the step that first reached it.
    hosts: Vec<(usize, SearchStep)>,
}

fn traverse(linked: &LinkedComponent<'_>, tables: &[Vec<TableEntry>], from: Option<&str>, indirect: bool) -> Traversal {
    let mut walk = Traversal { seen: HashMap::new(), hosts: vec![] };
    let mut queue = VecDeque::new();
    let mut groups_seen = std::collections::HashSet::new();
    let mut hosts_seen = std::collections::HashSet::new();
    let mut come =
        |walk: &mut Traversal, queue: &mut VecDeque<FunctionNode>, target: CallTarget, step: SearchStep| match target {
            CallTarget::Code { instance, function } => {
                walk.seen.entry((instance, function)).or_insert_with(|| {
                    queue.push_back((instance, function));
                    step
                });
            }
            CallTarget::Host(host) => {
                if hosts_seen.insert(host) {
                    walk.hosts.push((host, step));
                }
            }
            CallTarget::Unresolved => {}
        };
    let is_of = |export: &str| from.is_none_or(|interface| export.split('#').next() == Some(interface));
    for (number, (_, target)) in linked.exports.iter().enumerate().filter(|(_, (export, _))| is_of(export)) {
        come(&mut walk, &mut queue, *target, SearchStep { from: ReachedFrom::Export(number), through_table: false });
    }
    for (number, instance) in linked.instances.iter().enumerate().filter(|_| from.is_none()) {
        let start = linked.modules[instance.module].start;
        if let Some(target) = start.and_then(|start| resolve(linked, (number, start))) {
            come(&mut walk, &mut queue, target, SearchStep { from: ReachedFrom::Start, through_table: false });
        }
    }
    while let Some(node @ (instance, function)) = queue.pop_front() {
        let of = &linked.instances[instance];
        let module: &Module<'_> = &linked.modules[of.module];
        let body = function.checked_sub(module.imported_functions).and_then(|at| module.bodies.get(at as usize));
        let Some(body) = body else { continue };
        for called in &body.calls {
            if let Some(target) = resolve(linked, (instance, *called)) {
                come(
                    &mut walk,
                    &mut queue,
                    target,
                    SearchStep { from: ReachedFrom::Function(node), through_table: false },
                );
            }
        }
        for call in &body.through_table {
            let Some(table) = of.tables.get(call.table as usize).copied() else { continue };
            // A constant table index makes the target of the call known. Glue code between modules uses calls with a
            // constant index.
            let certain = call.slot.and_then(|slot| tables[table].iter().find(|(place, ..)| *place == Some(slot)));
            if let Some((.., target)) = certain {
                come(
                    &mut walk,
                    &mut queue,
                    *target,
                    SearchStep { from: ReachedFrom::Function(node), through_table: false },
                );
            } else if indirect && groups_seen.insert((table, call.signature)) {
                let of_signature = tables[table].iter().filter(|(_, signature, _)| *signature == call.signature);
                for (.., target) in of_signature {
                    come(
                        &mut walk,
                        &mut queue,
                        *target,
                        SearchStep { from: ReachedFrom::Function(node), through_table: true },
                    );
                }
            }
        }
    }
    walk
}

fn path_to_import(linked: &LinkedComponent<'_>, walk: &Traversal, host: usize, last: SearchStep) -> Reachability {
    let (interface, function) = &linked.hosts[host];
    let called = if interface == function { interface.clone() } else { format!("{interface}#{function}") };
    let mut frames = vec![PathFrame { function: called, through_table: last.through_table, named: true }];
    let mut step = last;
    let export = loop {
        match step.from {
            ReachedFrom::Export(number) => break Some(linked.exports[number].0.clone()),
            ReachedFrom::Start => break None,
            ReachedFrom::Function(node) => {
                step = walk.seen[&node];
                if let Some(frame) = frame(linked, node, step.through_table) {
                    frames.push(frame);
                }
            }
        }
    };
    frames.reverse();
    // Compilers name the first function after the export. The export is printed anyway, so this frame is removed.
    if frames.len() > 1 && export.as_ref() == Some(&frames[0].function) {
        frames.remove(0);
    }
    Reachability::Path { export, frames }
}

/// Returns the frame of a function, or `None` for glue code that only forwards a call.
fn frame(linked: &LinkedComponent<'_>, (instance, function): FunctionNode, through_table: bool) -> Option<PathFrame> {
    let module = &linked.modules[linked.instances[instance].module];
    if is_glue(module) {
        return None;
    }
    let name = module.names.get(&function).map(|name| names::demangled(name));
    let named = name.is_some();
    let exported = || {
        let export = module.exports.iter().find(|(.., index)| *index == function);
        export.map(|(name, ..)| names::demangled(name))
    };
    let function = name.or_else(exported).unwrap_or_else(|| format!("function {function}"));
    Some(PathFrame { function, through_table, named })
}

/// Returns true for modules that wit-component inserts. Such a module has a known name, or an export `$imports`, which
/// no compiler generates.
fn is_glue(module: &Module<'_>) -> bool {
    let table = "$imports";
    let named = |prefix: &str| module.name.is_some_and(|name| name.starts_with(prefix));
    named("wit-component:shim")
        || named("wit-component:fixup")
        || module.exports.iter().any(|(name, ..)| *name == table)
}
