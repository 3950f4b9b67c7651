//! Quota of the bytes that one call writes to its granted directories.
//!
//! The quota counts every byte that a call writes, also a byte that replaces another one, and never gives bytes back.
//! It counts the bytes by which a file becomes longer without a write, and [`bounds::DIR_ENTRY_BYTES`] for each new
//! entry of a directory. Beyond the quota, an operation fails as on a full disk.
//!
//! A write behind the end of a file makes the file longer by the gap. The size of the file is read on a thread that may
//! block, as every other access to a file.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::io::Errno;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn_blocking};

use latchwork_core::model::bounds;

use crate::capability::call_window::CallWindow;
use crate::capability::grant;
use crate::capability::settings::PluginSettings;

/// Bytes that a call may still write. Clones share the count.
#[derive(Clone)]
pub(crate) struct WriteQuota {
    count: Arc<Count>,
    window: CallWindow,
    settings: Arc<PluginSettings>,
}

struct Count {
    /// Bytes that the call may still write.
    left: AtomicU64,
    /// Number of operations of the call that can make a file shorter.
    shrinks: AtomicU64,
}

impl WriteQuota {
    pub(crate) fn new(settings: Arc<PluginSettings>, window: CallWindow) -> Self {
        let count = Count { left: AtomicU64::new(settings.grants.dir_bytes()), shrinks: AtomicU64::new(0) };
        Self { count: Arc::new(count), window, settings }
    }

    /// Takes bytes from the quota before they are written. If too few bytes are left, takes none, logs a refusal and
    /// returns false.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let rest = |left: u64| left.checked_sub(bytes);
        let taken = self.count.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
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
    pub(crate) async fn take_write(&self, file: Arc<File>, offset: u64, bytes: usize) -> bool {
        // The start of a file leaves no gap, so its size is not needed.
        let gap = if offset == 0 { 0 } else { offset.saturating_sub(size(file).await) };
        self.take(gap.saturating_add(bytes as u64))
    }

    /// Takes the change of a file to this size.
    pub(crate) async fn take_size(&self, file: Arc<File>, new: u64) -> bool {
        self.take(new.saturating_sub(size(file).await))
    }

    /// Records that a file may be shorter now. Streams read the size of their file again.
    pub(crate) fn count_shrink(&self) {
        self.count.shrinks.fetch_add(1, Ordering::Relaxed);
    }

    fn shrinks(&self) -> u64 {
        self.count.shrinks.load(Ordering::Relaxed)
    }

    /// Returns a stream that takes its writes from the quota. The stream begins at `position`, or appends if there is
    /// none.
    pub(crate) fn limited(&self, inner: DynOutputStream, file: Arc<File>, position: Option<u64>) -> DynOutputStream {
        Box::new(self.limited_stream(inner, file, position))
    }

    fn limited_stream(&self, inner: DynOutputStream, file: Arc<File>, position: Option<u64>) -> LimitedStream {
        LimitedStream { inner, quota: self.clone(), file, position, gap: Gap::Unknown, is_full: false }
    }
}

/// Reads the size of a file on another thread.
fn size(file: Arc<File>) -> AbortOnDropJoinHandle<u64> {
    spawn_blocking(move || length(&file))
}

/// Reads the size of a file. An unknown size counts as zero, so that too much is taken rather than too little.
fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}

/// Stream to a file that takes its writes from a quota.
struct LimitedStream {
    inner: DynOutputStream,
    quota: WriteQuota,
    file: Arc<File>,
    /// Place of the next write, or `None` if the stream appends.
    position: Option<u64>,
    gap: Gap,
    /// True after a write beyond the quota. The stream is then closed, as WASI demands after an error.
    is_full: bool,
}

/// Bytes between the end of a file and the place of the next write. Each value belongs to a number of shrinks. After
/// another operation that can make a file shorter, the gap is unknown.
enum Gap {
    Unknown,
    /// A thread reads the size of the file. A guest may stop waiting and wait again.
    Measured {
        size: AbortOnDropJoinHandle<u64>,
        shrinks: u64,
    },
    Known {
        bytes: u64,
        shrinks: u64,
    },
}

impl LimitedStream {
    fn check(&self) -> StreamResult<()> {
        if self.is_full { Err(StreamError::Closed) } else { Ok(()) }
    }

    /// Returns the gap before the next write, or `None` if it is unknown.
    fn gap(&self) -> Option<u64> {
        match (self.position, &self.gap) {
            (None | Some(0), _) => Some(0),
            (Some(_), Gap::Known { bytes, shrinks }) if *shrinks == self.quota.shrinks() => Some(*bytes),
            (Some(_), _) => None,
        }
    }

    /// Reads the size of the file, if the gap is unknown.
    async fn measure(&mut self) {
        while let (None, Some(position)) = (self.gap(), self.position) {
            self.gap = match &mut self.gap {
                Gap::Measured { size, shrinks } => {
                    let (size, shrinks) = (size.await, *shrinks);
                    Gap::Known { bytes: position.saturating_sub(size), shrinks }
                }
                _ => Gap::Measured { size: size(self.file.clone()), shrinks: self.quota.shrinks() },
            };
        }
    }

    fn take(&mut self, bytes: usize) -> StreamResult<()> {
        self.check()?;
        let gap = match (self.gap(), self.position, &self.gap) {
            (Some(gap), ..) => gap,
            // The file may have become shorter after `check_write` permitted this write.
            (None, Some(position), Gap::Known { .. }) => position.saturating_sub(length(&self.file)),
            // `check_write` permits no write before the gap is known.
            (None, ..) => return Err(StreamError::trap("a write was not permitted by check-write")),
        };
        if bytes == 0 {
            return Ok(());
        }
        if !self.quota.take(gap.saturating_add(bytes as u64)) {
            self.is_full = true;
            let full = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
            return Err(StreamError::LastOperationFailed(full.into()));
        }
        self.position = self.position.map(|position| position.saturating_add(bytes as u64));
        // The write ends where the next write begins.
        self.gap = Gap::Known { bytes: 0, shrinks: self.quota.shrinks() };
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
        self.ready().await;
        self.take(bytes.len())?;
        self.inner.blocking_write_and_flush(bytes).await
    }
    fn flush(&mut self) -> StreamResult<()> {
        self.check()?;
        self.inner.flush()
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        self.check()?;
        let permitted = self.inner.check_write()?;
        // Zero bytes tell the guest to wait for `ready`.
        Ok(if self.gap().is_some() { permitted } else { 0 })
    }
    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

#[async_trait]
impl Pollable for LimitedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
        self.measure().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use futures::FutureExt;
    use wasmtime_wasi::p2::pipe::SinkOutputStream;

    use crate::capability::grants::Grants;
    use crate::capability::settings::settings_with;
    use crate::os::Machine;

    fn quota(dir_bytes: Option<u64>) -> WriteQuota {
        let grants = Grants { dir_bytes, ..Grants::default() };
        WriteQuota::new(Arc::new(settings_with(grants)), CallWindow::with_timeout_ms(Machine::system(), 60_000))
    }

    fn file_of(bytes: u64) -> Arc<File> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        Arc::new(file)
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
    #[tokio::test]
    async fn gaps_count_as_written() {
        let file = file_of(10);
        let quota = quota(Some(100));
        let size = |new: u64| quota.take_size(file.clone(), new);
        let write = |offset: u64, bytes: usize| quota.take_write(file.clone(), offset, bytes);
        assert!(size(4).await && size(60).await, "50 bytes more");
        assert!(write(5, 10).await, "10 bytes inside");
        assert!(!write(40, 11).await, "11 bytes and a gap of 30");
        assert!(write(40, 10).await && !quota.take(1));
        assert!(!write(u64::MAX, 1).await && !size(u64::MAX).await);
    }

    /// I269: a stream permits no write before it knows the gap. It reads the size of its file again only after a file
    /// may have become shorter.
    #[tokio::test]
    async fn gap_of_a_stream_is_known_before_it_permits_a_write() {
        let (file, quota) = (file_of(10), quota(Some(100)));
        let mut stream = quota.limited_stream(Box::new(SinkOutputStream), file.clone(), Some(40));
        assert_eq!(stream.check_write().unwrap(), 0);
        assert!(matches!(stream.write(Bytes::from_static(b"x")), Err(StreamError::Trap(_))));
        // A guest that asks again and again gets the permission.
        while stream.ready().now_or_never().is_none() {
            tokio::task::yield_now().await;
        }
        assert!(stream.check_write().unwrap() > 0);
        stream.write(Bytes::from_static(b"0123456789")).unwrap();
        assert!(quota.take(60 - 1) && quota.count.left.load(Ordering::Relaxed) == 1, "10 bytes and a gap of 30");
        assert!(stream.check_write().unwrap() > 0, "the next write begins at the end of this one");
        file.set_len(40).unwrap();
        quota.count_shrink();
        assert_eq!(stream.check_write().unwrap(), 0);
        stream.ready().await;
        assert!(matches!(stream.gap, Gap::Known { bytes: 10, .. }));
        assert!(matches!(stream.write(Bytes::from_static(b"x")), Err(StreamError::LastOperationFailed(_))));
    }

    /// I269: a write that was permitted stays permitted if the file becomes shorter before it. The gap counts.
    #[tokio::test]
    async fn permitted_write_after_a_shrink_counts_the_gap() {
        let (file, quota) = (file_of(40), quota(Some(100)));
        let mut stream = quota.limited_stream(Box::new(SinkOutputStream), file.clone(), Some(40));
        stream.ready().await;
        assert!(stream.check_write().unwrap() > 0);
        file.set_len(10).unwrap();
        quota.count_shrink();
        stream.write(Bytes::from_static(b"0123456789")).unwrap();
        assert!(quota.take(60) && !quota.take(1), "10 bytes and a gap of 30");
    }

    /// I269: the start of a file and an appended write leave no gap.
    #[tokio::test]
    async fn stream_without_a_gap_permits_a_write_at_once() {
        for position in [Some(0), None] {
            let quota = quota(Some(100));
            let mut stream = quota.limited_stream(Box::new(SinkOutputStream), file_of(10), position);
            assert!(stream.check_write().unwrap() > 0, "{position:?}");
            stream.write(Bytes::from_static(b"0123456789")).unwrap();
            stream.write(Bytes::from_static(b"0123456789")).unwrap();
            assert!(quota.take(80) && !quota.take(1), "{position:?}");
        }
    }
}
