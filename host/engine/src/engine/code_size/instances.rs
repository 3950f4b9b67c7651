//! Number of instances that a component makes. A nested component may be instantiated by several others, which doubles
//! the number with each level.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, Encoding, Instance, Parser,
    Payload,
};

use latchwork_core::model::bounds;

use crate::interfaces::PluginProblem;

/// Checks the instances that a component makes. Reads no code.
pub(crate) fn check_instances(bytes: &[u8]) -> Result<(), PluginProblem> {
    let mut nesting = Nesting::default();
    // The engine refuses a component that cannot be parsed.
    Parser::new(0).parse_all(bytes).map_while(Result::ok).try_for_each(|payload| nesting.count(&payload))
}

/// Instances that a component makes, with those of the components that it instantiates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Instances {
    /// Instances of components and of core modules.
    all: u64,
    /// Instances of core modules.
    core: u64,
}

impl Instances {
    fn with(self, more: Self) -> Self {
        Self { all: self.all.saturating_add(more.all), core: self.core.saturating_add(more.core) }
    }

    fn at_least(self, other: Self) -> Self {
        Self { all: self.all.max(other.all), core: self.core.max(other.core) }
    }
}

/// Counts the instances that a component makes.
#[derive(Default)]
struct Nesting {
    /// Components and modules that are being read, outermost first.
    open: Vec<OpenComponent>,
    /// Largest instance counts of the components that were read so far.
    largest: Instances,
}

/// Component or module that is being read.
#[derive(Default)]
struct OpenComponent {
    made: Instances,
    /// Instance counts of the components in its index space, by index.
    components: Vec<Instances>,
    is_module: bool,
}

impl Nesting {
    fn count(&mut self, payload: &Payload<'_>) -> Result<(), PluginProblem> {
        match payload {
            Payload::Version { encoding, .. } => {
                let is_module = *encoding == Encoding::Module;
                self.open.push(OpenComponent { made: Instances { all: 1, core: 0 }, components: vec![], is_module });
            }
            Payload::End(_) => {
                if let Some(ended) = self.open.pop()
                    && !ended.is_module
                {
                    self.largest = self.largest.at_least(ended.made);
                    self.define(ended.made);
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section.clone().into_iter().map_while(Result::ok) {
                    if let ComponentInstance::Instantiate { component_index, .. } = instance {
                        self.add(self.numbers(0, component_index));
                    }
                }
            }
            Payload::InstanceSection(section) => {
                let made = section.clone().into_iter().map_while(Result::ok);
                let core = made.filter(|made| matches!(made, Instance::Instantiate { .. })).count() as u64;
                self.add(Instances { all: u64::from(section.count()), core });
            }
            other => self.define_from(other),
        }
        self.check()
    }

    /// Adds the components that an alias, an import or an export names without defining them there.
    fn define_from(&mut self, payload: &Payload<'_>) {
        match payload {
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone().into_iter().map_while(Result::ok) {
                    match alias {
                        ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                            self.define(self.numbers(count as usize, index));
                        }
                        // An instance exports this component. The component is one of the components read so far, so
                        // the largest counts of those are an upper bound for its counts.
                        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => {
                            self.define(self.largest);
                        }
                        _ => {}
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                let imports = section.clone().into_iter().map_while(Result::ok);
                for _ in imports.filter(|import| import.ty.kind() == ComponentExternalKind::Component) {
                    self.define(self.largest);
                }
            }
            Payload::ComponentExportSection(section) => {
                let exports = section.clone().into_iter().map_while(Result::ok);
                for export in exports.filter(|export| export.kind == ComponentExternalKind::Component) {
                    self.define(self.numbers(0, export.index));
                }
            }
            _ => {}
        }
    }

    fn check(&self) -> Result<(), PluginProblem> {
        let Some(Instances { all, core }) = self.open.last().map(|open| open.made) else { return Ok(()) };
        for (count, max, what) in
            [(all, bounds::INSTANCES, "instances of components and modules"), (core, bounds::CORE_INSTANCES, "modules")]
        {
            if count > max as u64 {
                return Err(PluginProblem::TooLarge(format!("it instantiates {count} {what} where {max} are allowed")));
            }
        }
        Ok(())
    }

    /// Returns the instance counts of the component `index`, as numbered in the component `depth` levels outside the
    /// current one.
    fn numbers(&self, depth: usize, index: u32) -> Instances {
        let open = self.open.len().checked_sub(depth + 1).and_then(|at| self.open.get(at));
        open.and_then(|open| open.components.get(index as usize)).copied().unwrap_or(self.largest)
    }

    fn define(&mut self, made: Instances) {
        if let Some(open) = self.open.last_mut() {
            open.components.push(made);
        }
    }

    fn add(&mut self, made: Instances) {
        if let Some(open) = self.open.last_mut() {
            open.made = open.made.with(made);
        }
    }
}
