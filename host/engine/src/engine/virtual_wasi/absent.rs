//! Interfaces of resources that do not exist in a step, linked by name.
//!
//! The functions of these interfaces are linked, because a stock Python imports sockets and a stock JavaScript engine
//! imports HTTP, even if a step does not use them. No socket, file or request can be created. If WASI defines a
//! suitable error, the function returns it. Otherwise the call ends the step with a message that names the function.
//! Functions that take a handle of an absent resource can never be called.

use tracing::Level;
use wasmtime::StoreContextMut;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, Resource, ResourceType, Val};

use crate::engine::step_state::StepInstanceState;
use crate::guest::fault::HostFault;

/// Names of resources that an absent interface uses but does not define. Other interfaces define them.
const FOREIGN: [&str; 4] = ["error", "pollable", "input-stream", "output-stream"];

/// A socket, a file, a request or a network. Only handles of the WASI resource `network` are ever created. A guest
/// cannot reach anything with such a handle.
struct AbsentResource;

/// Answer of a function of an absent interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AbsentAnswer {
    /// An empty list.
    EmptyList,
    /// The value `none` in place of an error code. A guest asks for the code of an error, but no error of this
    /// interface has a code.
    NoErrorCode,
    /// A handle of an empty network.
    EmptyNetwork,
    /// The error `access-denied`, and a log record with the alternative to use.
    Denied(&'static str),
    /// Ends the step with a message that names the function and the alternative to use.
    Refused(&'static str),
    /// Ends the step with the engine's message for an import that is not linked.
    NotLinked,
}

/// Links each import of a component for which `answers` returns a mapping. The mapping takes the name of a function of
/// the import, and returns the answer that the host gives to each call of this function.
pub(super) fn link<F: Fn(&str) -> AbsentAnswer + Copy>(
    linker: &mut Linker<StepInstanceState>,
    component: &Component,
    answers: impl Fn(&str) -> Option<F>,
) -> wasmtime::Result<()> {
    let engine = linker.engine().clone();
    for (import, found) in component.component_type().imports(&engine) {
        let (Some(answer), ComponentItem::ComponentInstance(interface)) = (answers(import), found.ty) else { continue };
        let mut instance = linker.instance(import)?;
        for (item, found) in interface.exports(&engine) {
            match found.ty {
                ComponentItem::ComponentFunc(_) => {
                    let (answer, name) = (answer(item), format!("{import}#{item}"));
                    instance
                        .func_new(item, move |store, _, taken, results| call(store, answer, &name, taken, results))?;
                }
                ComponentItem::Resource(_) if !FOREIGN.contains(&item) => {
                    instance.resource(item, ResourceType::host::<AbsentResource>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn call(
    mut store: StoreContextMut<'_, StepInstanceState>,
    answer: AbsentAnswer,
    name: &str,
    taken: &[Val],
    results: &mut [Val],
) -> wasmtime::Result<()> {
    store.data_mut().count_wasi_call(1)?;
    let value = match answer {
        AbsentAnswer::EmptyList => Val::List(vec![]),
        AbsentAnswer::NoErrorCode => Val::Option(None),
        AbsentAnswer::EmptyNetwork => {
            Val::Resource(Resource::<AbsentResource>::new_own(0).try_into_resource_any(&mut store)?)
        }
        AbsentAnswer::Denied(instead) => {
            store.data_mut().calls.log(Level::WARN, &format!("{name} is denied: {instead}"));
            Val::Result(Err(Some(Box::new(Val::Enum("access-denied".to_owned())))))
        }
        AbsentAnswer::Refused(instead) => {
            return Err(HostFault::AbsentFunction { function: name.to_owned(), instead }.into());
        }
        AbsentAnswer::NotLinked => return Err(HostFault::UnknownImport(name.to_owned()).into()),
    };
    if let [result] = results {
        *result = value;
    }
    // A guest may lend handles to this call. Lent handles must be dropped before the call returns. All of them are
    // handles of the WASI resource `network`, because the host creates no other absent resource.
    for value in taken {
        if let Val::Resource(lent) = value {
            Resource::<AbsentResource>::try_from_resource_any(*lent, &mut store)?;
        }
    }
    Ok(())
}
