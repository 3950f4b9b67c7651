//! Test stand-ins for the imports of the host, with the same signatures.

use super::current;
use crate::Error;
use crate::bindings::context::StepContext;
use crate::bindings::invocation::InvocationContext;
use crate::data::{Level, Timestamp};

pub(crate) use super::files;

pub(crate) mod net {
    //! Outgoing HTTP.
    use crate::data::http::{Error, ErrorKind, Request, Response};
    use crate::testing::current;

    pub(crate) fn send(request: &Request) -> Result<Response, Error> {
        match current().http {
            Some(answer) => answer(request),
            None => Err(Error::new(
                ErrorKind::Denied,
                format!("{}: the test host grants no HTTP; call Host::http", request.url),
            )),
        }
    }
}

pub(crate) fn context() -> StepContext {
    current().context
}

pub(crate) fn invocation() -> InvocationContext {
    current().invocation
}

pub(crate) fn now() -> Timestamp {
    current().now
}

/// Returns the next number of SplitMix64. The sequence is the same in every run of a test.
fn random() -> u64 {
    let host = current();
    let mut shared = host.state.borrow_mut();
    shared.random = shared.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = shared.random;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn rng_bytes(len: u32) -> Vec<u8> {
    (0..len).map(|_| random().to_le_bytes()[0]).collect()
}

pub(crate) fn rng_u32() -> u32 {
    u32::try_from(random() >> 32).expect("32 bits are left")
}

pub(crate) fn rng_below(bound: u32) -> u32 {
    if bound == 0 { 0 } else { rng_u32() % bound }
}

pub(crate) fn call(operator: &str, args: &str, _action_key: Option<&str>) -> Result<String, Error> {
    let host = current();
    let value = serde_json::from_str(args).map_err(|error| Error::invalid_input(error.to_string()))?;
    host.state.borrow_mut().calls.push((operator.to_owned(), value));
    match host.tools.get(operator) {
        Some(tool) => tool(args),
        None => Err(Error::dependency_unavailable(format!("the test host has no tool {operator}; call Host::tool"))
            .not_applied()),
    }
}

pub(crate) fn call_all(calls: &[(&str, &str, Option<&str>)]) -> Vec<Result<String, Error>> {
    calls.iter().map(|(operator, args, action_key)| call(operator, args, *action_key)).collect()
}

pub(crate) fn emit(name: &str, payload: &str) {
    let payload = serde_json::from_str(payload).expect("events::emit wrote it as JSON");
    current().state.borrow_mut().events.push((name.to_owned(), payload));
}

pub(crate) fn log(level: Level, message: &str) {
    current().state.borrow_mut().logs.push((level, message.to_owned()));
}

fn with_kv<T>(f: impl FnOnce(&mut std::collections::BTreeMap<String, Vec<u8>>) -> T) -> Result<T, Error> {
    let host = current();
    if !host.kv_granted {
        return Err(Error::policy_denied("the test host grants no kv; call Host::grant_kv"));
    }
    Ok(f(&mut host.state.borrow_mut().kv))
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    with_kv(|map| map.get(key).cloned())
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<(), Error> {
    with_kv(|map| {
        map.insert(key.to_owned(), value.to_owned());
    })
}

pub(crate) fn kv_delete(key: &str) -> Result<bool, Error> {
    with_kv(|map| map.remove(key).is_some())
}

pub(crate) fn secret(name: &str) -> Result<String, Error> {
    let placeholder = current().secrets.get(name).cloned();
    placeholder.ok_or_else(|| Error::policy_denied(format!("the test host grants no secret {name}; call Host::secret")))
}

pub(crate) fn config(key: &str) -> Option<String> {
    current().config.get(key).cloned()
}

pub(crate) fn wall_now() -> Timestamp {
    current().now
}

pub(crate) fn wall_random(len: usize) -> Vec<u8> {
    (0..len).map(|_| random().to_le_bytes()[0]).collect()
}

pub(crate) fn wall_sleep(time: std::time::Duration) {
    std::thread::sleep(time);
}
