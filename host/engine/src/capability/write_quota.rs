//! Quota of the bytes that one call writes to its granted directories.
//!
//! The quota counts every byte that a call writes, also a byte that replaces another one, and never gives bytes back.
//! It counts the bytes by which a file becomes longer without a write, and [`bounds::DIR_ENTRY_BYTES`] for each new
//! entry of a directory. Beyond the quota, an operation fails as on a full disk.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::io::Errno;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};

use latchwork_core::model::bounds;

use crate::capability::call_window::CallWindow;
use crate::capability::grant;
use crate::capability::settings::PluginSettings;

/// Bytes that a call may still write. Clones share the count.
#[derive(Clone)]
pub(crate) struct WriteQuota {
    left: Arc<AtomicU64>,
    window: CallWindow,
    settings: Arc<PluginSettings>,
}

impl WriteQuota {
    pub(crate) fn new(settings: Arc<PluginSettings>, window: CallWindow) -> Self {
        Self { left: Arc::new(AtomicU64::new(settings.grants.dir_bytes())), window, settings }
    }

    /// Takes bytes from the quota before they are written. If too few bytes are left, takes none, logs a refusal and
    /// returns false.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let rest = |left: u64| left.checked_sub(bytes);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        if let Err(left) = taken {
            let grants = &self.settings.grants;
            grant::exceeded_dir_quota(grants, left, bytes).record(&self.window, &self.settings.name);
        }
        taken.is_ok()
    }

    /// Takes one new entry of a directory from the quota.
    pub(crate) fn take_entry(&self) -> bool {
        self.take(bounds::DIR_ENTRY_BYTES as u64)
    }

    /// Takes a write of `bytes` bytes at `offset`. A write behind the end of the file also fills the gap.
    pub(crate) fn take_write(&self, file: &File, offset: u64, bytes: usize) -> bool {
        // The start of a file leaves no gap, so its size is not needed.
        let gap = if offset == 0 { 0 } else { offset.saturating_sub(size(file)) };
        self.take(gap.saturating_add(bytes as u64))
    }

    /// Takes the change of a file to this size.
    pub(crate) fn take_size(&self, file: &File, new: u64) -> bool {
        self.take(new.saturating_sub(size(file)))
    }

    /// Returns a stream that takes its writes from the quota. The stream begins at `position`, or appends if there is
    /// none.
    pub(crate) fn limited(&self, inner: DynOutputStream, file: Arc<File>, position: Option<u64>) -> DynOutputStream {
        Box::new(LimitedStream { inner, quota: self.clone(), file, position, is_full: false })
    }
}

/// Returns the size of a file. An unknown size counts as zero, so that too much is taken rather than too little.
fn size(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}

/// Stream to a file that takes its writes from a quota.
struct LimitedStream {
    inner: DynOutputStream,
    quota: WriteQuota,
    file: Arc<File>,
    /// Place of the next write, or `None` if the stream appends.
    position: Option<u64>,
    /// True after a write beyond the quota. The stream is then closed, as WASI demands after an error.
    is_full: bool,
}

impl LimitedStream {
    fn check(&self) -> StreamResult<()> {
        if self.is_full { Err(StreamError::Closed) } else { Ok(()) }
    }

    fn take(&mut self, bytes: usize) -> StreamResult<()> {
        self.check()?;
        let is_taken = match self.position {
            Some(position) => self.quota.take_write(&self.file, position, bytes),
            None => self.quota.take(bytes as u64),
        };
        if !is_taken {
            self.is_full = true;
            let full = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
            return Err(StreamError::LastOperationFailed(full.into()));
        }
        self.position = self.position.map(|position| position.saturating_add(bytes as u64));
        Ok(())
    }
}

#[async_trait]
impl OutputStream for LimitedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(bytes.len())?;
        self.inner.write(bytes)
    }
    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(bytes.len())?;
        self.inner.blocking_write_and_flush(bytes).await
    }
    fn flush(&mut self) -> StreamResult<()> {
        self.check()?;
        self.inner.flush()
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        self.check()?;
        self.inner.check_write()
    }
    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

#[async_trait]
impl Pollable for LimitedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::capability::grants::Grants;
    use crate::capability::settings::settings_with;
    use crate::os::Machine;

    fn quota(dir_bytes: Option<u64>) -> WriteQuota {
        let grants = Grants { dir_bytes, ..Grants::default() };
        WriteQuota::new(Arc::new(settings_with(grants)), CallWindow::with_timeout_ms(Machine::system(), 60_000))
    }

    /// I269: bounds `dir_bytes` and `dir_entry_bytes`. Without a setting, a call writes up to the default.
    #[test]
    fn quota_ends_at_its_last_byte() {
        let whole = quota(None);
        assert!(whole.take(bounds::DIR_BYTES) && !whole.clone().take(1) && whole.take(0));
        let entry = bounds::DIR_ENTRY_BYTES as u64;
        let entries = quota(Some(2 * entry + entry - 1));
        assert!(entries.take_entry() && entries.take_entry() && !entries.take_entry());
        assert!(entries.take(entry - 1), "a refusal takes nothing");
    }

    /// I269: what makes a file longer counts, with and without a write.
    #[test]
    fn gaps_count_as_written() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10).unwrap();
        let quota = quota(Some(100));
        assert!(quota.take_size(&file, 4) && quota.take_size(&file, 60), "50 bytes more");
        assert!(quota.take_write(&file, 5, 10), "10 bytes inside");
        assert!(!quota.take_write(&file, 40, 11), "11 bytes and a gap of 30");
        assert!(quota.take_write(&file, 40, 10) && !quota.take(1));
        assert!(!quota.take_write(&file, u64::MAX, 1) && !quota.take_size(&file, u64::MAX));
    }
}
