//! Sizes of a component that are checked before it is compiled or run. A component is refused if its compilation could
//! take too much time or memory, or if no instance of it could run.
//!
//! Floors, top first: this file · `functions`, `instances` · `expressions` · `branches`.

mod branches;
mod expressions;
mod functions;
mod instances;
#[cfg(test)]
mod tests;

use wasmtime::component::Component;

use latchwork_core::model::bounds;

use crate::interfaces::PluginProblem;

/// Compiles a component whose code is small enough.
///
/// # Errors
/// The code is too large, or the bytes are not a component that this engine runs. [`problem_of`] distinguishes the two.
pub(crate) fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> wasmtime::Result<Component> {
    functions::check_code(bytes)?;
    Component::new(engine, bytes)
}

/// Returns the problem of a component that could not be compiled.
pub(crate) fn problem_of(error: wasmtime::Error) -> PluginProblem {
    match error.downcast::<PluginProblem>() {
        Ok(problem) => problem,
        Err(error) => PluginProblem::NotAComponent(format!("{error:#}")),
    }
}

/// Checks the memories and tables of an instance of a compiled component. Without this check, each call would wait for
/// room in the pool of instances, and then fail.
pub(crate) fn check_resources(component: &Component) -> Result<(), PluginProblem> {
    let Some(needed) = component.resources_required() else { return Ok(()) };
    for (count, max, what) in
        [(needed.num_memories, bounds::MEMORIES, "memories"), (needed.num_tables, bounds::TABLES, "tables")]
    {
        if count as usize > max {
            return Err(PluginProblem::TooLarge(format!(
                "an instance of it has {count} {what} where {max} are allowed"
            )));
        }
    }
    Ok(())
}

/// Checks what needs no compilation: the size of the component, and its instances.
///
/// # Errors
/// The component is larger than `bytes_max`, or compiling it would expand too many instances.
pub(crate) fn check_before_compiling(bytes: &[u8], bytes_max: u64) -> Result<(), PluginProblem> {
    check_bytes(bytes, bytes_max)?;
    instances::check_instances(bytes)
}

/// Returns the problem of a component that is larger than `bytes_max`.
fn check_bytes(bytes: &[u8], bytes_max: u64) -> Result<(), PluginProblem> {
    if bytes.len() as u64 <= bytes_max {
        return Ok(());
    }
    Err(PluginProblem::TooLarge(format!(
        "it has {} bytes where {bytes_max} are allowed; build it without debug information, or raise limits.component",
        bytes.len()
    )))
}
