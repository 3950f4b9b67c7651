//! The key-value map of a case.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::oneshot;

use latchwork_core::storage::map::{bytes_after_set, entry_bytes};
use latchwork_core::storage::{KeyValue, MapName, SetError, StoreError};

use crate::check::tools::fault_profile::FaultProfile;

/// Key-value map of the case. A plugin has one namespace, and all calls of a case have one tenant.
pub(super) struct CaseMap {
    pub(super) entries: Mutex<BTreeMap<String, Vec<u8>>>,
    /// True if the map was read or written.
    pub(super) is_used: AtomicBool,
    /// True if a fault of the map made an access fail.
    pub(super) is_refused: AtomicBool,
    fault: Mutex<FaultProfile>,
    /// Numbers of reads and of writes that were tried since the last fault was set.
    reads: AtomicUsize,
    writes: AtomicUsize,
    pause: Mutex<Option<Pause>>,
}

/// An access of a call, with its number among the reads or the writes, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read(usize),
    Write(usize),
}

/// A place at which a call waits, so that another call is made meanwhile.
struct Pause {
    /// Access before which the call waits.
    before: Access,
    reached: oneshot::Sender<()>,
    resume: oneshot::Receiver<()>,
}

/// The other side of a pause.
pub(super) struct PausedCall {
    /// Completes when the call waits at the access. Completes with an error if the pause is removed before.
    pub(super) reached: oneshot::Receiver<()>,
    /// Lets the call continue.
    pub(super) resume: oneshot::Sender<()>,
}

impl CaseMap {
    pub(super) fn new(entries: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            entries: Mutex::new(entries),
            is_used: false.into(),
            is_refused: false.into(),
            fault: Mutex::new(FaultProfile::Fair),
            reads: 0.into(),
            writes: 0.into(),
            pause: Mutex::default(),
        }
    }

    pub(super) fn set_fault(&self, fault: FaultProfile) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        self.reads.store(0, Ordering::Relaxed);
        self.writes.store(0, Ordering::Relaxed);
    }

    /// Lets the next call wait before this access.
    pub(super) fn pause_before(&self, access: Access) -> PausedCall {
        let ((is_reached, reached), (resume, is_resumed)) = (oneshot::channel(), oneshot::channel());
        let before = match access {
            Access::Read(number) => Access::Read(self.reads.load(Ordering::Relaxed) + number),
            Access::Write(number) => Access::Write(self.writes.load(Ordering::Relaxed) + number),
        };
        let pause = Pause { before, reached: is_reached, resume: is_resumed };
        *self.pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(pause);
        PausedCall { reached, resume }
    }

    async fn wait_if_paused(&self, access: Access) {
        let pause = {
            let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            pause.take_if(|pause| pause.before == access)
        };
        if let Some(pause) = pause
            && pause.reached.send(()).is_ok()
        {
            // The wait also ends if the other side was dropped. The call then continues.
            let _ = pause.resume.await;
        }
    }

    /// Begins a write and returns its number.
    async fn begin_write(&self) -> Result<usize, StoreError> {
        let write = self.writes.fetch_add(1, Ordering::Relaxed);
        self.wait_if_paused(Access::Write(write)).await;
        self.use_store(None, Some(write))?;
        Ok(write)
    }

    /// Returns an error if the answer to the write with this number is lost.
    fn confirm_write(&self, write: usize) -> Result<(), StoreError> {
        if *self.fault.lock().unwrap_or_else(PoisonError::into_inner) != FaultProfile::WriteUnanswered(write) {
            return Ok(());
        }
        self.is_refused.store(true, Ordering::Relaxed);
        Err(unanswered())
    }

    /// Marks the map as used. Returns an error if the fault applies to this access. An access is a read or a write, and
    /// has a number.
    fn use_store(&self, read: Option<usize>, write: Option<usize>) -> Result<(), StoreError> {
        self.is_used.store(true, Ordering::Relaxed);
        let refused = match (*self.fault.lock().unwrap_or_else(PoisonError::into_inner), write) {
            (FaultProfile::ReadRefused(number), None) if read == Some(number) => unanswered(),
            (FaultProfile::NoMap, _) => unanswered(),
            (FaultProfile::ReadOnlyMap, Some(_)) => StoreError::ReadOnly("its disk is full".to_owned()),
            (FaultProfile::WriteRefused { number, and_later }, Some(write))
                if write == number || and_later && write > number =>
            {
                StoreError::ReadOnly("its disk is full".to_owned())
            }
            _ => return Ok(()),
        };
        self.is_refused.store(true, Ordering::Relaxed);
        Err(refused)
    }
}

fn unanswered() -> StoreError {
    StoreError::Unavailable("its server does not answer".to_owned())
}

#[async_trait]
impl KeyValue for CaseMap {
    async fn get(&self, _: &MapName, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        self.wait_if_paused(Access::Read(read)).await;
        self.use_store(Some(read), None)?;
        Ok(self.entries.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }
    async fn set(&self, _: &MapName, key: &str, value: &[u8], quota: u64) -> Result<(), SetError> {
        let write = self.begin_write().await.map_err(SetError::Store)?;
        let mut map = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let used = map.iter().map(|(key, value)| entry_bytes(key.len(), value.len())).sum();
        let before = map.get(key).map_or(0, |value| entry_bytes(key.len(), value.len()));
        bytes_after_set(used, before, entry_bytes(key.len(), value.len()), quota).map_err(SetError::Quota)?;
        map.insert(key.to_owned(), value.to_owned());
        self.confirm_write(write).map_err(SetError::Store)
    }
    async fn delete(&self, _: &MapName, key: &str) -> Result<bool, StoreError> {
        let write = self.begin_write().await?;
        let was_there = self.entries.lock().unwrap_or_else(PoisonError::into_inner).remove(key).is_some();
        self.confirm_write(write)?;
        Ok(was_there)
    }
}
