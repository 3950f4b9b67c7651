//! Resource limits of a running guest, and the counters that enforce them.

use wasmtime::{ResourceLimiter, Store, UpdateDeadline};

use latchwork_core::model::bounds;
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::Limits;

use crate::guest::fault::HostFault;
use crate::guest::last_words::LastWords;
use crate::os::clock;

/// Bytes that a log record takes besides its text, for time, place and names.
pub(crate) const RECORD_BYTES: usize = 100;

/// Treatment of a log record of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogRecord {
    /// The record is written.
    Write,
    /// The record exceeds the bytes that are left. One last record that reports this replaces the record.
    WriteLast,
    /// The record is left out.
    LeaveOut,
}

/// Counts the resources that one try uses. A request beyond a limit traps. If the host returned an error instead, the
/// guest could continue, and its result would depend on the limits.
///
/// The run time is real time, and not the time of the host's clock: a guest that never ends has to be stopped even if
/// the clock of its host stands still.
#[derive(Debug)]
pub(crate) struct Guard {
    memory_bytes: u64,
    memory_bytes_max: u64,
    table_elements: u64,
    table_elements_max: u64,
    /// True if the last requested growth exceeded the maximum that the guest's own module declares.
    is_beyond_own_maximum: bool,
    host_calls: u32,
    host_calls_max: u32,
    /// Bytes of events that the try may still emit.
    event_bytes_left: u64,
    event_bytes_max: u64,
    /// Bytes of arguments and answers that the calls of the try may still have.
    recorded_bytes_left: u64,
    /// Bytes of log records that the try may still write.
    log_bytes_left: usize,
    /// The last texts about errors. Shared with the streams of a tool.
    pub(crate) last_words: LastWords,
    wasi_calls: u32,
    wasi_calls_max: u32,
    running_since_us: u64,
    waited_us: u64,
    /// Maximum run time of the guest, in microseconds. The time during which the guest waits for a tool call, or for
    /// the host to record an event, is not counted.
    run_us_max: u64,
}

impl Guard {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: 0,
            memory_bytes_max: limits.memory_bytes,
            table_elements: 0,
            table_elements_max: u64::from(limits.table_elements),
            is_beyond_own_maximum: false,
            host_calls: 0,
            host_calls_max: limits.host_calls,
            event_bytes_left: u64::from(limits.output_bytes),
            event_bytes_max: u64::from(limits.output_bytes),
            recorded_bytes_left: bounds::RECORDED_BYTES as u64,
            log_bytes_left: bounds::LOG_BYTES,
            last_words: LastWords::default(),
            wasi_calls: 0,
            // A language runtime makes many calls of WASI that the author of the plugin does not see. Such a call costs
            // very little.
            wasi_calls_max: limits.host_calls.saturating_mul(bounds::WASI_CALLS_PER_HOST_CALL),
            running_since_us: clock::boot_us(),
            waited_us: 0,
            run_us_max: u64::from(limits.timeout_ms) * 1_000,
        }
    }

    /// Subtracts the bytes of a log record from the bytes that the try may still write. Returns the treatment of the
    /// record.
    pub(crate) fn take_log_bytes(&mut self, bytes: usize) -> LogRecord {
        match self.log_bytes_left.checked_sub(bytes + RECORD_BYTES) {
            Some(left) => {
                self.log_bytes_left = left;
                LogRecord::Write
            }
            None if self.log_bytes_left > 0 => {
                self.log_bytes_left = 0;
                LogRecord::WriteLast
            }
            None => LogRecord::LeaveOut,
        }
    }

    /// Returns the error of a growth that failed although the limits of the plugin allow it. The machine is at fault,
    /// unless the growth exceeded the maximum of the guest's own module. Such a growth fails on every machine.
    fn failed_growth(&self, error: wasmtime::Error) -> wasmtime::Error {
        match self.is_beyond_own_maximum {
            true => error,
            false => HostFault::Machine(error.root_cause().to_string()).into(),
        }
    }

    /// Total size of all linear memories, in bytes. Memory never shrinks, so this is also the maximum so far.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Counts one host call and fails if the limit is exceeded.
    pub(crate) fn count_host_call(&mut self) -> Result<(), HostFault> {
        self.host_calls += 1;
        if self.host_calls > self.host_calls_max {
            return Err(HostFault::HostCalls(self.host_calls_max));
        }
        Ok(())
    }

    /// Counts `bytes` of emitted events. All events of the try together have the same limit as the answer, because the
    /// store keeps both as long as the job.
    pub(crate) fn count_event_bytes(&mut self, bytes: usize) -> Result<(), HostFault> {
        let left = self.event_bytes_left.checked_sub(bytes as u64);
        self.event_bytes_left = left.ok_or(HostFault::EventBytes(self.event_bytes_max))?;
        Ok(())
    }

    /// Counts `bytes` of the arguments or the answer of a call, because the store keeps them as long as the job. A
    /// replay makes the same calls and counts the same bytes.
    pub(crate) fn count_recorded_bytes(&mut self, bytes: usize) -> Result<(), HostFault> {
        let left = self.recorded_bytes_left.checked_sub(bytes as u64);
        self.recorded_bytes_left = left.ok_or(HostFault::RecordedBytes(bounds::RECORDED_BYTES as u64))?;
        Ok(())
    }

    /// Counts `more` calls of virtual WASI and fails if the limit is exceeded.
    pub(crate) fn count_wasi_calls(&mut self, more: u32) -> Result<(), HostFault> {
        self.wasi_calls = self.wasi_calls.saturating_add(more);
        if self.wasi_calls > self.wasi_calls_max {
            return Err(HostFault::WasiCalls(self.wasi_calls_max));
        }
        Ok(())
    }

    /// Awaits a future for which the guest waits, and excludes this time from the run time of the guest.
    pub(crate) async fn exclude_wait<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        let since_us = clock::boot_us();
        let value = awaited.await;
        self.waited_us += clock::boot_us().saturating_sub(since_us);
        value
    }

    pub(crate) fn check_time(&self) -> Result<(), HostFault> {
        self.check_run_time(clock::boot_us().saturating_sub(self.running_since_us).saturating_sub(self.waited_us))
    }

    /// Fails if the guest ran longer than it may.
    pub(crate) fn check_run_time(&self, running_us: u64) -> Result<(), HostFault> {
        if running_us > self.run_us_max { Err(HostFault::WallClock(self.run_us_max / 1_000)) } else { Ok(()) }
    }
}

impl ResourceLimiter for Guard {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.is_beyond_own_maximum = maximum.is_some_and(|maximum| desired > maximum);
        let total = self.memory_bytes + (desired - current) as u64;
        if total > self.memory_bytes_max {
            return Err(HostFault::Memory { wanted: total, limit: self.memory_bytes_max }.into());
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.is_beyond_own_maximum = maximum.is_some_and(|maximum| desired > maximum);
        let total = self.table_elements + (desired - current) as u64;
        if total > self.table_elements_max {
            return Err(HostFault::Tables { wanted: total, limit: self.table_elements_max }.into());
        }
        self.table_elements = total;
        Ok(true)
    }

    /// Traps if the system itself has no memory left. If the growth only failed inside the guest, a lack of memory on
    /// this machine could change the result of the step.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(self.failed_growth(error))
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(self.failed_growth(error))
    }

    fn instances(&self) -> usize {
        bounds::CORE_INSTANCES
    }
    fn tables(&self) -> usize {
        bounds::TABLES
    }
    fn memories(&self) -> usize {
        bounds::MEMORIES
    }
}

/// Data in a wasmtime `Store` that contains a [`Guard`].
pub(crate) trait Guarded: 'static {
    fn guard(&mut self) -> &mut Guard;
}

/// Applies the limits to a new wasmtime `Store` and adds the fuel for instantiation. The cost of instantiation depends
/// on the platform and on copy-on-write memory, so it is kept out of the operator's own fuel.
pub(crate) fn apply_limits<T: Guarded>(store: &mut Store<T>, limits: &Limits) -> wasmtime::Result<()> {
    store.limiter(|state| state.guard());
    store.set_fuel(bounds::INSTANTIATION_FUEL)?;
    // The additional bytes are for names, keys and frames.
    store.set_hostcall_fuel(limits.output_bytes as usize + bounds::HOST_CALL_SLACK_BYTES);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut context| {
        context.data_mut().guard().check_time()?;
        Ok(UpdateDeadline::Yield(1))
    });
    Ok(())
}

pub(crate) fn oversized(len: usize, limits: &Limits) -> Failure {
    Failure::new(
        Code::OutputLimit,
        format!("the plugin answered with {len} bytes where {} are allowed; raise limits.output", limits.output_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::fault;

    /// I225: bounds `memory_bytes` and `table_elements`. All memories of an instance share one limit, and all tables
    /// another.
    #[test]
    fn memories_and_tables_of_an_instance_are_bounded() {
        let mut guard = Guard::new(&Limits::default());
        let memory = bounds::MEMORY_BYTES as usize;
        assert!(guard.memory_growing(0, 1 << 16, None).unwrap());
        assert!(guard.memory_growing(0, memory - (1 << 16), None).unwrap());
        let beyond = guard.memory_growing(0, 1, None).unwrap_err();
        assert_eq!(fault::failure(&beyond).code, Code::MemoryLimit);
        let elements = bounds::TABLE_ELEMENTS as usize;
        assert!(guard.table_growing(0, 1, None).unwrap());
        assert!(guard.table_growing(1, elements, None).unwrap());
        let beyond = guard.table_growing(0, 1, None).unwrap_err();
        assert_eq!(fault::failure(&beyond).code, Code::MemoryLimit);
    }

    /// I225: bounds `host_calls` and `wasi_calls_per_host_call`.
    #[test]
    fn calls_of_the_host_and_of_wasi_are_bounded() {
        let mut guard = Guard::new(&Limits::default());
        (0..bounds::HOST_CALLS).for_each(|_| guard.count_host_call().unwrap());
        assert_eq!(guard.count_host_call(), Err(HostFault::HostCalls(bounds::HOST_CALLS)));
        let most = bounds::HOST_CALLS * bounds::WASI_CALLS_PER_HOST_CALL;
        guard.count_wasi_calls(most).unwrap();
        assert_eq!(guard.count_wasi_calls(1), Err(HostFault::WasiCalls(most)));
    }

    /// I225: bound `timeout_ms`.
    #[test]
    fn run_time_of_a_try_is_bounded() {
        let guard = Guard::new(&Limits::default());
        let most_us = u64::from(bounds::TIMEOUT_MS) * 1_000;
        guard.check_run_time(most_us).unwrap();
        let beyond = guard.check_run_time(most_us + 1);
        assert_eq!(beyond, Err(HostFault::WallClock(bounds::TIMEOUT_MS.into())));
        let late = Guard { running_since_us: clock::boot_us().saturating_sub(most_us + 1), ..guard };
        let started_in_time = late.running_since_us > 0;
        assert!(!started_in_time || late.check_time().is_err());
    }

    /// I225: bound `output_bytes`. All events of a try together have the same limit as its answer.
    #[test]
    fn events_of_a_try_are_bounded() {
        let mut guard = Guard::new(&Limits::default());
        guard.count_event_bytes(1).unwrap();
        guard.count_event_bytes(bounds::OUTPUT_BYTES as usize - 1).unwrap();
        assert_eq!(guard.count_event_bytes(1), Err(HostFault::EventBytes(bounds::OUTPUT_BYTES.into())));
    }

    /// I222: bound `recorded_bytes`.
    #[test]
    fn recorded_bytes_of_a_try_are_bounded() {
        let mut guard = Guard::new(&Limits::default());
        guard.count_recorded_bytes(bounds::RECORDED_BYTES - 1).unwrap();
        guard.count_recorded_bytes(1).unwrap();
        assert!(matches!(guard.count_recorded_bytes(1), Err(HostFault::RecordedBytes(_))));
    }

    /// I225: bound `log_bytes`. A record that reports the excess replaces the first record beyond the bound.
    #[test]
    fn log_records_of_a_try_are_bounded() {
        let mut guard = Guard::new(&Limits::default());
        assert_eq!(guard.take_log_bytes(bounds::LOG_BYTES - 2 * RECORD_BYTES - 1), LogRecord::Write);
        assert_eq!(guard.take_log_bytes(1), LogRecord::Write);
        let mut full = Guard::new(&Limits::default());
        assert_eq!(full.take_log_bytes(bounds::LOG_BYTES - RECORD_BYTES + 1), LogRecord::WriteLast);
        assert_eq!(full.take_log_bytes(0), LogRecord::LeaveOut);
    }

    /// I223: a growth that the limits allow fails only if the machine lacks memory. A growth beyond the module's own
    /// maximum fails everywhere.
    #[test]
    fn failed_growth_within_the_limits_is_a_fault_of_the_machine() {
        let mut guard = Guard::new(&Limits::default());
        let failed = |guard: &mut Guard| {
            let error = wasmtime::Error::msg("Memory maximum size exceeded");
            guard.memory_grow_failed(error).unwrap_err().downcast::<HostFault>().ok()
        };
        assert!(guard.memory_growing(0, 1 << 16, Some(1 << 16)).unwrap());
        assert!(matches!(failed(&mut guard), Some(HostFault::Machine(_))));
        assert!(guard.memory_growing(1 << 16, 1 << 17, Some(1 << 16)).unwrap());
        assert!(failed(&mut guard).is_none());
    }
}
