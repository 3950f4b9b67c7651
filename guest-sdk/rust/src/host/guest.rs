//! Calls the imports of the host with the types of this crate.

use wasip2::clocks::wall_clock;

use crate::Error;
use crate::bindings::context::StepContext;
use crate::bindings::invocation::InvocationContext;
use crate::bindings::kv::KvError;
use crate::bindings::secrets::SecretError;
use crate::bindings::{clock, config as wit_config, context as wit_context, events, invocation as wit_invocation};
use crate::bindings::{kv, log as wit_log, rng, secrets, tools};
use crate::data::{Level, Timestamp};

pub(crate) fn context() -> StepContext {
    wit_context::get()
}

pub(crate) fn invocation() -> InvocationContext {
    wit_invocation::get()
}

pub(crate) fn now() -> Timestamp {
    let clock::Instant { seconds, nanoseconds } = clock::now();
    Timestamp { seconds, nanoseconds }
}

pub(crate) fn rng_bytes(len: u32) -> Vec<u8> {
    rng::bytes(len)
}

pub(crate) fn rng_u32() -> u32 {
    rng::next_u32()
}

pub(crate) fn rng_below(bound: u32) -> u32 {
    rng::below(bound)
}

pub(crate) fn call(operator: &str, args: &str, action_key: Option<&str>) -> Result<String, Error> {
    tools::call(operator, args, action_key).map_err(Error::from)
}

pub(crate) fn call_all(calls: &[(&str, &str, Option<&str>)]) -> Vec<Result<String, Error>> {
    let calls: Vec<_> = calls
        .iter()
        .map(|(operator, args, action_key)| tools::CallRequest {
            operator: (*operator).to_owned(),
            args: (*args).to_owned(),
            action_key: action_key.map(str::to_owned),
        })
        .collect();
    tools::call_all(&calls).into_iter().map(|answer| answer.map_err(Error::from)).collect()
}

pub(crate) fn emit(name: &str, payload: &str) {
    events::emit(name, payload);
}

pub(crate) fn log(level: Level, message: &str) {
    let level = match level {
        Level::Trace => wit_log::Level::Trace,
        Level::Debug => wit_log::Level::Debug,
        Level::Info => wit_log::Level::Info,
        Level::Warn => wit_log::Level::Warn,
        Level::Error => wit_log::Level::Error,
    };
    wit_log::write(level, message);
}

fn kv_error(error: KvError, writing: bool) -> Error {
    match error {
        KvError::NotGranted => {
            Error::policy_denied("no kv grant: add kv = \"NAME\" to this plugin's grants in latch.toml")
        }
        KvError::TooLarge => {
            Error::invalid_input("kv entry too large: a key has at most 256 bytes and a value at most 64 KiB")
        }
        KvError::Unavailable(why) if writing => Error::dependency_unavailable(format!("kv: {why}")),
        KvError::Unavailable(why) => Error::dependency_unavailable(format!("kv: {why}")).not_applied(),
    }
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Vec<u8>>, Error> {
    kv::get(key).map_err(|error| kv_error(error, false))
}

pub(crate) fn kv_set(key: &str, value: &[u8]) -> Result<(), Error> {
    kv::set(key, value).map_err(|error| kv_error(error, true))
}

pub(crate) fn kv_delete(key: &str) -> Result<bool, Error> {
    kv::delete(key).map_err(|error| kv_error(error, true))
}

pub(crate) fn secret(name: &str) -> Result<String, Error> {
    secrets::get(name).map_err(|error| match error {
        SecretError::NotGranted => Error::policy_denied(format!(
            "secret {name} is not granted: bind it to a server in grants.http of latch.toml"
        )),
        SecretError::Missing => Error::missing_required_context(format!(
            "secret {name} is granted but has no value: set LATCH_SECRET_{name}"
        )),
    })
}

pub(crate) fn config(key: &str) -> Option<String> {
    wit_config::get(key)
}

pub(crate) fn wall_now() -> Timestamp {
    let now = wall_clock::now();
    Timestamp { seconds: i64::try_from(now.seconds).unwrap_or(i64::MAX), nanoseconds: now.nanoseconds }
}

pub(crate) fn wall_random(len: usize) -> Vec<u8> {
    wasip2::random::random::get_random_bytes(len as u64)
}

pub(crate) fn wall_sleep(time: std::time::Duration) {
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    wasip2::clocks::monotonic_clock::subscribe_duration(nanoseconds).block();
}
