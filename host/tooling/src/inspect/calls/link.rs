//! Static linking of a component's core modules. Resolves each import of a core module to a function, as the engine
//! would. The resolution follows instances, aliases and nested components.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use wasmparser::{
    CanonicalFunction, Chunk, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, ExternalKind, Instance, Parser, Payload,
};

use crate::inspect::calls::module::{ItemKind, Module, Signatures};

/// Maximum nesting of components, and maximum number of instances.
const DEPTH_MAX: usize = 50;
const INSTANCES_MAX: usize = 10_000;

const TOO_MANY: &str = "the component has too many instances";
const UNREADABLE: &str = "its code cannot be read";

/// Target of a call in core code, after linking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CallTarget {
    /// Function `function` of the core instance with this number.
    Code { instance: usize, function: u32 },
    /// Import of the outermost component, as an index into [`LinkedComponent::hosts`].
    Host(usize),
    /// A built-in function of the component model, or an unresolved function.
    Unresolved,
}

/// Index of a table among all tables of the linked component.
type TableIndex = usize;

/// An instance of a core module.
pub(super) struct CoreInstance {
    pub(super) module: usize,
    /// Targets of the imported functions.
    pub(super) functions: Vec<CallTarget>,
    /// All tables of the instance, imported tables first.
    pub(super) tables: Vec<TableIndex>,
}

/// A linked component.
pub(super) struct LinkedComponent<'b> {
    pub(super) modules: Vec<Module<'b>>,
    pub(super) instances: Vec<CoreInstance>,
    /// Interface and function of each import that is used.
    pub(super) hosts: Vec<(String, String)>,
    /// Exported functions with their code.
    pub(super) exports: Vec<(String, CallTarget)>,
    pub(super) tables: usize,
}

#[derive(Clone)]
enum CoreItem {
    Function(CallTarget),
    Table(TableIndex),
    Other,
}

type CoreExports = Rc<BTreeMap<String, CoreItem>>;

#[derive(Clone)]
enum LinkItem {
    Function(LinkedFunction),
    Instance(Rc<BTreeMap<String, LinkItem>>),
    /// An instance that the host provides, by the name of its interface.
    HostInstance(String),
    Component(Rc<NestedComponent>),
    Module(usize),
    Other,
}

#[derive(Clone)]
enum LinkedFunction {
    Lifted(CallTarget),
    Host(usize),
}

/// A nested component: its bytes, and the scope of the enclosing components.
struct NestedComponent {
    range: Range<usize>,
    outer: Option<Rc<Scope>>,
}

/// Modules and components that nested components may refer to.
#[derive(Clone, Default)]
struct Scope {
    modules: Vec<LinkItem>,
    components: Vec<LinkItem>,
    outer: Option<Rc<Scope>>,
}

/// Index spaces of one component.
#[derive(Default)]
struct Spaces {
    scope: Scope,
    core_functions: Vec<CallTarget>,
    core_tables: Vec<Option<TableIndex>>,
    core_instances: Vec<CoreExports>,
    functions: Vec<LinkItem>,
    instances: Vec<LinkItem>,
    exports: BTreeMap<String, LinkItem>,
}

struct Linker<'b> {
    bytes: &'b [u8],
    signatures: Signatures,
    /// Modules already read, by the offset of their first byte.
    read: HashMap<usize, usize>,
    hosts: HashMap<(String, String), usize>,
    linked: LinkedComponent<'b>,
    made: usize,
}

/// Links a component.
pub(super) fn link(bytes: &[u8]) -> Result<LinkedComponent<'_>, &'static str> {
    let linked = LinkedComponent { modules: vec![], instances: vec![], hosts: vec![], exports: vec![], tables: 0 };
    let mut linker = Linker {
        bytes,
        signatures: Signatures::default(),
        read: HashMap::new(),
        hosts: HashMap::new(),
        linked,
        made: 0,
    };
    let exports = linker.component(0..bytes.len(), None, None, 0)?;
    for (name, item) in exports {
        match item {
            LinkItem::Function(LinkedFunction::Lifted(target)) => linker.linked.exports.push((name, target)),
            LinkItem::Instance(items) => {
                for (function, item) in items.iter() {
                    if let LinkItem::Function(LinkedFunction::Lifted(target)) = item {
                        linker.linked.exports.push((format!("{name}#{function}"), *target));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(linker.linked)
}

impl<'b> Linker<'b> {
    /// Instantiates a component and returns its exports. `arguments` is `None` for the outermost component,
    /// whose imports the host provides.
    fn component(
        &mut self,
        range: Range<usize>,
        outer: Option<Rc<Scope>>,
        arguments: Option<&BTreeMap<String, LinkItem>>,
        depth: usize,
    ) -> Result<BTreeMap<String, LinkItem>, &'static str> {
        self.made += 1;
        if depth > DEPTH_MAX || self.made > INSTANCES_MAX {
            return Err(TOO_MANY);
        }
        let mut spaces = Spaces { scope: Scope { outer, ..Scope::default() }, ..Spaces::default() };
        let bytes = self.bytes;
        let mut parser = Parser::new(range.start as u64);
        let mut rest = &bytes[range];
        loop {
            let (consumed, payload) = match parser.parse(rest, true).map_err(|_| UNREADABLE)? {
                Chunk::Parsed { consumed, payload } => (consumed, payload),
                Chunk::NeedMoreData(_) => return Err(UNREADABLE),
            };
            rest = &rest[consumed..];
            let skipped = match &payload {
                Payload::ModuleSection { unchecked_range, .. } | Payload::ComponentSection { unchecked_range, .. } => {
                    Some(unchecked_range.clone())
                }
                _ => None,
            };
            if let Some(range) = &skipped {
                rest = rest.get(range.len()..).ok_or(UNREADABLE)?;
            }
            if matches!(payload, Payload::End(_)) {
                return Ok(spaces.exports);
            }
            self.section(&mut spaces, payload, skipped, arguments, depth)?;
        }
    }

    fn section(
        &mut self,
        spaces: &mut Spaces,
        payload: Payload<'b>,
        range: Option<Range<usize>>,
        arguments: Option<&BTreeMap<String, LinkItem>>,
        depth: usize,
    ) -> Result<(), &'static str> {
        let bad = |_: wasmparser::Error| UNREADABLE;
        match payload {
            Payload::ModuleSection { .. } => {
                let module = self.module(range.ok_or(UNREADABLE)?)?;
                spaces.scope.modules.push(LinkItem::Module(module));
            }
            Payload::ComponentSection { .. } => {
                let nested =
                    NestedComponent { range: range.ok_or(UNREADABLE)?, outer: Some(Rc::new(spaces.scope.clone())) };
                spaces.scope.components.push(LinkItem::Component(Rc::new(nested)));
            }
            Payload::InstanceSection(section) => {
                for instance in section {
                    let exports = self.core_instance(spaces, instance.map_err(bad)?)?;
                    spaces.core_instances.push(exports);
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    let made = self.instance(spaces, instance.map_err(bad)?, depth)?;
                    spaces.instances.push(made);
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    self.alias(spaces, alias.map_err(bad)?);
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    define_canonical(spaces, function.map_err(bad)?);
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    let import = import.map_err(bad)?;
                    let name = import.name.name;
                    let item = match arguments {
                        Some(arguments) => arguments.get(name).cloned().unwrap_or(LinkItem::Other),
                        None => match import.ty {
                            ComponentTypeRef::Instance(_) => LinkItem::HostInstance(name.to_owned()),
                            ComponentTypeRef::Func(_) => {
                                LinkItem::Function(LinkedFunction::Host(self.host(name, name)))
                            }
                            _ => LinkItem::Other,
                        },
                    };
                    push(spaces, import.ty.kind(), item);
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    let export = export.map_err(bad)?;
                    let item = item_at(spaces, export.kind, export.index);
                    spaces.exports.insert(export.name.name.to_owned(), item.clone());
                    // An export creates a new index for the exported item.
                    push(spaces, export.kind, item);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn module(&mut self, range: Range<usize>) -> Result<usize, &'static str> {
        if let Some(known) = self.read.get(&range.start) {
            return Ok(*known);
        }
        let start = range.start;
        let module = Module::read(self.bytes, range, &mut self.signatures).map_err(|_| UNREADABLE)?;
        self.linked.modules.push(module);
        self.read.insert(start, self.linked.modules.len() - 1);
        Ok(self.linked.modules.len() - 1)
    }

    fn core_instance(&mut self, spaces: &Spaces, instance: Instance<'b>) -> Result<CoreExports, &'static str> {
        self.made += 1;
        if self.made > INSTANCES_MAX {
            return Err(TOO_MANY);
        }
        let (index, arguments) = match instance {
            Instance::FromExports(exports) => {
                let item = |export: &wasmparser::Export<'_>| match export.kind {
                    ExternalKind::Func | ExternalKind::FuncExact => {
                        CoreItem::Function(get(&spaces.core_functions, export.index).unwrap_or(CallTarget::Unresolved))
                    }
                    ExternalKind::Table => {
                        get(&spaces.core_tables, export.index).flatten().map_or(CoreItem::Other, CoreItem::Table)
                    }
                    _ => CoreItem::Other,
                };
                return Ok(Rc::new(exports.iter().map(|export| (export.name.to_owned(), item(export))).collect()));
            }
            Instance::Instantiate { module_index, args } => {
                let given = args.iter().filter_map(|arg| Some((arg.name, get(&spaces.core_instances, arg.index)?)));
                (module_index, given.collect::<HashMap<_, _>>())
            }
        };
        let Some(LinkItem::Module(module)) = get(&spaces.scope.modules, index) else { return Ok(Rc::default()) };
        let read = &self.linked.modules[module];
        let (mut functions, mut tables) = (vec![], vec![]);
        for (from, name, what) in &read.imports {
            let item = arguments.get(from).and_then(|exports| exports.get(*name));
            match (what, item) {
                (ItemKind::Function, Some(CoreItem::Function(target))) => functions.push(*target),
                (ItemKind::Function, _) => functions.push(CallTarget::Unresolved),
                (ItemKind::Table, Some(CoreItem::Table(table))) => tables.push(*table),
                (ItemKind::Table, _) => {
                    tables.push(self.linked.tables);
                    self.linked.tables += 1;
                }
                (ItemKind::Other, _) => {}
            }
        }
        // Limits the number of tables in each instance. The size of the file limits only the tables of one module, and
        // a module may be instantiated many times.
        if tables.len() + read.defined_tables as usize > INSTANCES_MAX {
            return Err(TOO_MANY);
        }
        tables.extend((0..read.defined_tables as usize).map(|table| self.linked.tables + table));
        self.linked.tables += read.defined_tables as usize;
        let instance = self.linked.instances.len();
        let item = |what: ItemKind, index: u32| match what {
            ItemKind::Function => CoreItem::Function(match functions.get(index as usize) {
                Some(imported) => *imported,
                None => CallTarget::Code { instance, function: index },
            }),
            ItemKind::Table => get(&tables, index).map_or(CoreItem::Other, CoreItem::Table),
            ItemKind::Other => CoreItem::Other,
        };
        let exports =
            read.exports.iter().map(|(name, what, index)| ((*name).to_owned(), item(*what, *index))).collect();
        self.linked.instances.push(CoreInstance { module, functions, tables });
        Ok(Rc::new(exports))
    }

    fn instance(
        &mut self,
        spaces: &Spaces,
        instance: ComponentInstance<'b>,
        depth: usize,
    ) -> Result<LinkItem, &'static str> {
        let items = match instance {
            ComponentInstance::FromExports(exports) => exports
                .iter()
                .map(|export| (export.name.name.to_owned(), item_at(spaces, export.kind, export.index)))
                .collect(),
            ComponentInstance::Instantiate { component_index, args } => {
                let Some(LinkItem::Component(nested)) = get(&spaces.scope.components, component_index) else {
                    return Ok(LinkItem::Other);
                };
                let arguments =
                    args.iter().map(|arg| (arg.name.to_owned(), item_at(spaces, arg.kind, arg.index))).collect();
                self.component(nested.range.clone(), nested.outer.clone(), Some(&arguments), depth + 1)?
            }
        };
        Ok(LinkItem::Instance(Rc::new(items)))
    }

    fn alias(&mut self, spaces: &mut Spaces, alias: ComponentAlias<'b>) {
        match alias {
            ComponentAlias::InstanceExport { kind, instance_index, name } => {
                let item = match get(&spaces.instances, instance_index) {
                    Some(LinkItem::Instance(items)) => items.get(name).cloned().unwrap_or(LinkItem::Other),
                    Some(LinkItem::HostInstance(interface)) if kind == ComponentExternalKind::Func => {
                        LinkItem::Function(LinkedFunction::Host(self.host(&interface, name)))
                    }
                    _ => LinkItem::Other,
                };
                push(spaces, kind, item);
            }
            ComponentAlias::CoreInstanceExport { kind, instance_index, name } => {
                let item = get(&spaces.core_instances, instance_index).and_then(|exports| exports.get(name).cloned());
                match kind {
                    ExternalKind::Func | ExternalKind::FuncExact => spaces.core_functions.push(match item {
                        Some(CoreItem::Function(target)) => target,
                        _ => CallTarget::Unresolved,
                    }),
                    ExternalKind::Table => spaces.core_tables.push(match item {
                        Some(CoreItem::Table(table)) => Some(table),
                        _ => None,
                    }),
                    _ => {}
                }
            }
            ComponentAlias::Outer { kind, count, index } => {
                let mut scope = Some(&spaces.scope);
                for _ in 0..count {
                    scope = scope.and_then(|scope| scope.outer.as_deref());
                }
                match kind {
                    ComponentOuterAliasKind::CoreModule => {
                        let item = scope.and_then(|scope| get(&scope.modules, index)).unwrap_or(LinkItem::Other);
                        spaces.scope.modules.push(item);
                    }
                    ComponentOuterAliasKind::Component => {
                        let item = scope.and_then(|scope| get(&scope.components, index)).unwrap_or(LinkItem::Other);
                        spaces.scope.components.push(item);
                    }
                    ComponentOuterAliasKind::CoreType | ComponentOuterAliasKind::Type => {}
                }
            }
        }
    }

    fn host(&mut self, interface: &str, function: &str) -> usize {
        let key = (interface.to_owned(), function.to_owned());
        if let Some(known) = self.hosts.get(&key) {
            return *known;
        }
        self.linked.hosts.push(key.clone());
        self.hosts.insert(key, self.linked.hosts.len() - 1);
        self.linked.hosts.len() - 1
    }
}

fn get<T: Clone>(of: &[T], index: u32) -> Option<T> {
    of.get(index as usize).cloned()
}

/// Returns the item with this kind and index.
fn item_at(spaces: &Spaces, kind: ComponentExternalKind, index: u32) -> LinkItem {
    let of = match kind {
        ComponentExternalKind::Func => &spaces.functions,
        ComponentExternalKind::Instance => &spaces.instances,
        ComponentExternalKind::Component => &spaces.scope.components,
        ComponentExternalKind::Module => &spaces.scope.modules,
        ComponentExternalKind::Type | ComponentExternalKind::Value => return LinkItem::Other,
    };
    get(of, index).unwrap_or(LinkItem::Other)
}

/// Adds the function that a canonical definition defines. `lift` defines a function of the component, and every other
/// definition defines a core function.
fn define_canonical(spaces: &mut Spaces, function: CanonicalFunction) {
    match function {
        CanonicalFunction::Lift { core_func_index, .. } => {
            let target = get(&spaces.core_functions, core_func_index).unwrap_or(CallTarget::Unresolved);
            spaces.functions.push(LinkItem::Function(LinkedFunction::Lifted(target)));
        }
        CanonicalFunction::Lower { func_index, .. } => {
            spaces.core_functions.push(match get(&spaces.functions, func_index) {
                Some(LinkItem::Function(LinkedFunction::Lifted(target))) => target,
                Some(LinkItem::Function(LinkedFunction::Host(host))) => CallTarget::Host(host),
                _ => CallTarget::Unresolved,
            });
        }
        // All other canonical functions are built into the component model.
        _ => spaces.core_functions.push(CallTarget::Unresolved),
    }
}

fn push(spaces: &mut Spaces, kind: ComponentExternalKind, item: LinkItem) {
    match kind {
        ComponentExternalKind::Func => spaces.functions.push(item),
        ComponentExternalKind::Instance => spaces.instances.push(item),
        ComponentExternalKind::Component => spaces.scope.components.push(item),
        ComponentExternalKind::Module => spaces.scope.modules.push(item),
        ComponentExternalKind::Type | ComponentExternalKind::Value => {}
    }
}
