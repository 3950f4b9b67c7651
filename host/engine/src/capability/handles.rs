//! Handles of a call that hold descriptors or memory of the host, counted by kind.
//!
//! The table of handles has one bound for all kinds. This bound is large, because most handles cost nothing. Files,
//! sockets and directory streams have lower bounds of their own. A file or a socket is a descriptor of the process,
//! which also serves other tenants. A directory stream holds the whole listing.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Weak};

use rustix::fs::{Dir, Mode, OFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime_wasi::filesystem::Descriptor;

use latchwork_core::model::bounds;

/// Counts of the handles of one call.
#[derive(Default)]
pub(crate) struct Handles {
    /// Files and directories that the guest opened. A stream keeps its file open after the guest has dropped the
    /// handle, so the references to the file itself are counted.
    files: Vec<Weak<File>>,
    listings: HashSet<u32>,
    sockets: usize,
    lookups: usize,
}

impl Handles {
    /// Returns true if the guest may open another file or directory.
    pub(crate) fn may_open_file(&mut self) -> bool {
        self.files.retain(|file| file.strong_count() > 0);
        self.files.len() < bounds::OPEN_FILES
    }

    /// Counts an opened file or directory until the last reference to it is dropped.
    pub(crate) fn count_file(&mut self, opened: &Descriptor) {
        self.files.push(Arc::downgrade(match opened {
            Descriptor::File(file) => &file.file,
            Descriptor::Dir(dir) => &dir.dir,
        }));
    }

    /// Returns true if the guest may read another directory.
    pub(crate) fn may_list(&self) -> bool {
        self.listings.len() < bounds::DIRECTORY_STREAMS
    }

    /// Counts a directory stream until the guest drops it.
    pub(crate) fn count_listing(&mut self, stream: u32) {
        self.listings.insert(stream);
    }

    /// Ends the count of a directory stream.
    pub(crate) fn listing_dropped(&mut self, stream: u32) {
        self.listings.remove(&stream);
    }

    /// Counts a socket for the rest of the call. Returns false if the call has more sockets than it may make.
    pub(crate) fn count_socket(&mut self) -> bool {
        self.sockets += 1;
        self.sockets <= bounds::SOCKETS
    }

    /// Counts a lookup of a name for the rest of the call. Returns false if the call has more lookups than it may make.
    pub(crate) fn count_lookup(&mut self) -> bool {
        self.lookups += 1;
        self.lookups <= bounds::LOOKUPS
    }
}

/// Requests of a call that are being sent or answered, and the bytes of their bodies in memory.
#[derive(Clone)]
pub(crate) struct RequestSlots {
    requests: Arc<Semaphore>,
    body_bytes: Arc<Semaphore>,
}

/// Place of one request. Dropping this value frees the place.
#[derive(Default)]
pub(crate) struct RequestSlot {
    _request: Option<OwnedSemaphorePermit>,
    body_bytes: Option<OwnedSemaphorePermit>,
}

impl RequestSlots {
    pub(crate) fn new() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(bounds::REQUESTS)),
            body_bytes: Arc::new(Semaphore::new(bounds::BODY_BYTES)),
        }
    }

    /// Takes a place for a request whose body is not held in memory. Returns `None` if all places are taken.
    pub(crate) fn take(&self) -> Option<RequestSlot> {
        let request = self.requests.clone().try_acquire_owned().ok()?;
        Some(RequestSlot { _request: Some(request), body_bytes: None })
    }

    /// Reserves memory for the body of a request. Returns false if the bodies of other requests leave too little
    /// memory.
    pub(crate) fn take_body(&self, slot: &mut RequestSlot, bytes: u32) -> bool {
        // The semaphore is never closed, so an error means that too few bytes are left.
        slot.body_bytes = self.body_bytes.clone().try_acquire_many_owned(bytes).ok();
        slot.body_bytes.is_some()
    }
}

/// Returns true if a directory has more entries, or more bytes of names, than one listing may hold. Stops at the first
/// entry beyond the limit.
pub(crate) fn is_too_long(directory: &File) -> io::Result<bool> {
    // The descriptor of a granted directory names the directory, and cannot be read itself.
    let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = Dir::new(rustix::fs::openat(directory.as_fd(), ".", readable, Mode::empty())?)?;
    let (mut count, mut bytes) = (0, 0);
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        // Every directory contains these two names, but no listing does.
        if matches!(name, b"." | b"..") {
            continue;
        }
        (count, bytes) = (count + 1, bytes + name.len());
        if count > bounds::LISTING_ENTRIES || bytes > bounds::LISTING_BYTES {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    use wasmtime_wasi::OpenMode;
    use wasmtime_wasi::filesystem::{File as GuestFile, FsPerms};

    fn open() -> Descriptor {
        let file = tempfile::tempfile().unwrap();
        Descriptor::File(GuestFile::new(file, FsPerms::ReadOnly, OpenMode::READ, false))
    }

    /// I221: bound `open_files`. A file counts until its last reference is dropped.
    #[test]
    fn open_files_are_counted_until_they_are_closed() {
        let mut handles = Handles::default();
        let mut held = Vec::new();
        for _ in 0..bounds::OPEN_FILES {
            assert!(handles.may_open_file());
            let file = open();
            handles.count_file(&file);
            held.push(file);
        }
        assert!(!handles.may_open_file());
        let Some(Descriptor::File(file)) = held.pop() else { panic!("a file") };
        let stream = file.file.clone();
        drop(file);
        assert!(!handles.may_open_file(), "its stream holds it");
        drop(stream);
        assert!(handles.may_open_file());
    }

    /// I221: bounds `directory_streams` and `sockets`. I239: bound `lookups`.
    #[test]
    fn directory_streams_sockets_and_lookups_are_counted() {
        let mut handles = Handles::default();
        for stream in 0..bounds::DIRECTORY_STREAMS as u32 {
            assert!(handles.may_list());
            handles.count_listing(stream);
        }
        assert!(!handles.may_list());
        handles.listing_dropped(0);
        assert!(handles.may_list());
        assert!((0..bounds::SOCKETS).all(|_| handles.count_socket()) && !handles.count_socket());
        assert!((0..bounds::LOOKUPS).all(|_| handles.count_lookup()) && !handles.count_lookup());
    }

    /// I221: bounds `requests` and `body_bytes`.
    #[test]
    fn requests_and_their_bodies_are_counted() {
        let slots = RequestSlots::new();
        let mut held: Vec<RequestSlot> = (0..bounds::REQUESTS).map(|_| slots.take().unwrap()).collect();
        assert!(slots.take().is_none());
        held.pop();
        let mut slot = slots.take().unwrap();
        assert!(!slots.take_body(&mut slot, bounds::BODY_BYTES as u32 + 1));
        assert!(slots.take_body(&mut slot, bounds::BODY_BYTES as u32));
        assert!(!slots.take_body(&mut held[0], 1));
        drop(slot);
        assert!(slots.take_body(&mut held[0], 1));
    }

    /// I221: bound `listing_entries`.
    #[test]
    fn long_directories_are_recognized() {
        let dir = tempfile::tempdir().unwrap();
        let opened = File::open(dir.path()).unwrap();
        let first = dir.path().join("0");
        File::create(&first).unwrap();
        for count in 1..bounds::LISTING_ENTRIES {
            std::fs::hard_link(&first, dir.path().join(count.to_string())).unwrap();
        }
        assert!(!is_too_long(&opened).unwrap());
        File::create(dir.path().join("more")).unwrap();
        assert!(is_too_long(&opened).unwrap());
    }

    /// I221: bound `listing_bytes`.
    #[test]
    fn directories_with_long_names_are_recognized() {
        const NAME_BYTES: usize = 250;
        let dir = tempfile::tempdir().unwrap();
        let opened = File::open(dir.path()).unwrap();
        let last = dir.path().join("l".repeat(bounds::LISTING_BYTES % NAME_BYTES));
        File::create(&last).unwrap();
        for count in 0..bounds::LISTING_BYTES / NAME_BYTES {
            std::fs::hard_link(&last, dir.path().join(format!("{count:0>NAME_BYTES$}"))).unwrap();
        }
        assert!(!is_too_long(&opened).unwrap());
        let longer = format!("{}l", last.file_name().unwrap().to_str().unwrap());
        std::fs::rename(&last, dir.path().join(longer)).unwrap();
        assert!(is_too_long(&opened).unwrap());
    }
}
