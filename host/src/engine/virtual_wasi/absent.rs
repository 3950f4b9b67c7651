//! Interfaces of things that do not exist in a step, linked by name.
//!
//! A stock Python imports sockets, and a stock JavaScript engine HTTP, whether or not a step uses
//! them; so their functions link, but nothing behind them can come into being. Where WASI has an
//! error for that it is the answer, elsewhere the call ends the step and says its name. What
//! takes a handle of a thing that cannot exist can never be called at all.

use tracing::Level;
use wasmtime::StoreContextMut;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, Resource, ResourceType, Val};

use crate::engine::fault::HostFault;
use crate::engine::step::StepState;

/// Resources that others define: an absent interface only mentions them.
const FOREIGN: [&str; 4] = ["error", "pollable", "input-stream", "output-stream"];

/// A socket, a file, a request: there is none.
struct Absent;

/// What a function answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// An empty list.
    Nothing,
    /// No error code: no error there is comes from here.
    NoCode,
    /// A handle of a network in which there is nobody.
    EmptyNetwork,
    /// The error `access-denied`, and a log record with the reason.
    Denied(&'static str),
    /// The step ends there, by name and with the reason.
    Refused(&'static str),
    /// Nobody serves it.
    Unknown,
}

/// Link those imports of a component for which `answers` has some.
pub(super) fn link<F: Fn(&str) -> Answer + Copy>(
    linker: &mut Linker<StepState>,
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
                    instance.resource(item, ResourceType::host::<Absent>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn call(
    mut store: StoreContextMut<'_, StepState>,
    answer: Answer,
    name: &str,
    taken: &[Val],
    results: &mut [Val],
) -> wasmtime::Result<()> {
    store.data_mut().wasi_call(1)?;
    let value = match answer {
        Answer::Nothing => Val::List(vec![]),
        Answer::NoCode => Val::Option(None),
        Answer::EmptyNetwork => Val::Resource(Resource::<Absent>::new_own(0).try_into_resource_any(&mut store)?),
        Answer::Denied(instead) => {
            store.data_mut().calls.log(Level::WARN, &format!("{name} is denied: {instead}"));
            Val::Result(Err(Some(Box::new(Val::Enum("access-denied".to_owned())))))
        }
        Answer::Refused(instead) => return Err(HostFault::Absent { function: name.to_owned(), instead }.into()),
        Answer::Unknown => return Err(HostFault::Unknown(name.to_owned()).into()),
    };
    if let [result] = results {
        *result = value;
    }
    // What was lent for the call is given back: the network, of all things.
    for value in taken {
        if let Val::Resource(lent) = value {
            Resource::<Absent>::try_from_resource_any(*lent, &mut store)?;
        }
    }
    Ok(())
}
