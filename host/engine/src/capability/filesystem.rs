//! `wasi:filesystem` on granted directories.
//!
//! wasmtime-wasi implements the operations and confines guests to their directories. Before each operation that changes
//! something, this module calls [`CallWindow::begin_side_effect`]. After the call's deadline, such an operation
//! therefore cannot begin. Once an operation has begun, the call is in doubt if the tool does not answer. What a call
//! writes is taken from its [`WriteQuota`] first.

use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::p2::bindings::filesystem::types;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use crate::capability::call_window::CallWindow;
use crate::capability::file_open::{OpenError, Opening};
use crate::capability::grant;
use crate::capability::grants::Grants;
use crate::capability::handles::{self, Handles};
use crate::capability::scratch_folders::ScratchFolders;
use crate::capability::stream_lack::{watched_input, watched_output};
use crate::capability::write_quota::WriteQuota;
use crate::guest::permissions::CallPermissions;
use crate::os::lack::{is_lack, is_lack_of_descriptors, lack_of_descriptors};

/// Host side of `wasi:filesystem` for one wasmtime `Store`. Contains wasmtime-wasi's implementation, and the data that
/// the host needs to check changes and to log refusals.
pub(crate) struct Files<'a> {
    pub(crate) inner: WasiFilesystemCtxView<'a>,
    pub(crate) watch: &'a CallWindow,
    pub(crate) plugin: &'a str,
    pub(crate) grants: &'a Grants,
    pub(crate) permissions: CallPermissions,
    pub(crate) handles: &'a mut Handles,
    pub(crate) quota: &'a WriteQuota,
    pub(crate) scratch: Option<&'a ScratchFolders>,
}

/// Identifies [`Files`] to the linker.
pub(crate) struct FilesData;

impl HasData for FilesData {
    type Data<'a> = Files<'a>;
}

impl Files<'_> {
    fn begin(&self) -> FsResult<()> {
        self.watch.begin_side_effect().map_err(|fault| FsError::trap(wasmtime::Error::from(fault)))?;
        match self.scratch {
            Some(scratch) if !scratch.may_change() => Err(ErrorCode::Io.into()),
            _ => Ok(()),
        }
    }

    /// Fails if a simulated fault makes a read fail.
    fn begin_read(&self) -> FsResult<()> {
        match self.scratch {
            Some(scratch) if !scratch.may_read() => Err(ErrorCode::Io.into()),
            _ => Ok(()),
        }
    }

    /// Refuses a FIFO, a socket or a device. A guest cannot create such a file, but another process can. Opening such a
    /// file can already change something, so the kind is checked before the path is opened. If a FIFO, a socket or a
    /// device replaces the file after the check, [`Opening::open_in`] refuses it. Returns false if the path is free.
    async fn check_kind(&mut self, fd: &Resource<Descriptor>, path_flags: PathFlags, path: &str) -> FsResult<bool> {
        let fd = Resource::new_borrow(fd.rep());
        match self.inner.stat_at(fd, path_flags, path.to_owned()).await {
            Ok(DescriptorStat {
                type_: DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink,
                ..
            }) => Ok(true),
            Ok(_) => Err(ErrorCode::NotPermitted.into()),
            // The file does not exist yet, or opening it fails with the same error.
            Err(_) => Ok(false),
        }
    }

    /// Returns the error that ends the call because the machine lacks memory or descriptors.
    fn lack(&self, error: &io::Error) -> FsError {
        FsError::trap(self.watch.record_lack(error))
    }

    /// Ends the call if an operation failed because the machine lacks memory or descriptors. wasmtime-wasi reports a
    /// lack of descriptors as an error of input or output. The host therefore looks whether descriptors are left.
    fn unless_lacking<T>(&self, result: FsResult<T>) -> FsResult<T> {
        let Err(error) = &result else { return result };
        let lack = match error.downcast_ref() {
            Some(ErrorCode::InsufficientMemory) => Some(io::Error::from(Errno::NOMEM)),
            Some(ErrorCode::Io) => lack_of_descriptors(),
            _ => None,
        };
        match lack {
            Some(lack) => Err(self.lack(&lack)),
            None => result,
        }
    }

    /// Returns the open file behind a descriptor.
    fn file(&self, fd: &Resource<Descriptor>) -> FsResult<Arc<File>> {
        match self.inner.table.get(fd)? {
            Descriptor::File(file) => Ok(file.file.clone()),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    /// Returns true if the guest may write to the descriptor. Other writes fail without a use of the quota.
    fn may_write(&self, fd: &Resource<Descriptor>) -> FsResult<bool> {
        Ok(match self.inner.table.get(fd)? {
            Descriptor::File(file) => !file.perms.write_not_permitted(),
            Descriptor::Dir(dir) => !dir.perms.write_not_permitted(),
        })
    }

    /// Takes the stream out of the table and returns it with the quota of the call. A lack of memory ends the call.
    fn limit(
        &mut self,
        stream: Resource<DynOutputStream>,
        file: Arc<File>,
        position: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let inner = watched_output(self.inner.table.delete(stream)?, self.watch);
        Ok(self.inner.table.push(self.quota.limited(inner, file, position))?)
    }

    /// Logs a refusal by wasmtime-wasi, with the line of `latch.toml` that would allow the operation.
    fn log_refusal<T>(&self, what: &str, result: FsResult<T>) -> FsResult<T> {
        if let Err(error) = &result
            && matches!(error.downcast_ref(), Some(ErrorCode::NotPermitted | ErrorCode::ReadOnly | ErrorCode::Access))
        {
            grant::refused_directory_write(self.grants, self.permissions, what).record(self.watch, self.plugin);
        }
        result
    }
}

macro_rules! delegate {
    ($(async fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(async fn $name(&mut self, $($arg: $ty),*) -> $ret {
            let result = self.inner.$name($($arg),*).await;
            self.unless_lacking(result)
        })*
    };
}

/// Defines operations that change something. An operation with `new entry` takes an entry from the quota.
macro_rules! mutate {
    ($($what:literal $(new entry in $dir:ident)?: async fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(async fn $name(&mut self, $($arg: $ty),*) -> $ret {
            $(if self.may_write(&$dir)? && !self.quota.take_entry() {
                return Err(ErrorCode::InsufficientSpace.into());
            })?
            self.begin()?;
            let result = self.inner.$name($($arg),*).await;
            self.log_refusal($what, self.unless_lacking(result))
        })*
    };
}

impl types::Host for Files<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }
    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.filesystem_error_code(error)
    }
}

impl HostDescriptor for Files<'_> {
    delegate! {
        async fn advise(fd: Resource<Descriptor>, offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()>;
        async fn get_flags(fd: Resource<Descriptor>) -> FsResult<DescriptorFlags>;
        async fn get_type(fd: Resource<Descriptor>) -> FsResult<DescriptorType>;
        async fn read(fd: Resource<Descriptor>, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)>;
        async fn stat(fd: Resource<Descriptor>) -> FsResult<DescriptorStat>;
        async fn readlink_at(fd: Resource<Descriptor>, path: String) -> FsResult<String>;
        async fn metadata_hash(fd: Resource<Descriptor>) -> FsResult<MetadataHashValue>;
        async fn metadata_hash_at(
            fd: Resource<Descriptor>, flags: PathFlags, path: String
        ) -> FsResult<MetadataHashValue>;
    }

    mutate! {
        "change a file's times": async fn set_times(
            fd: Resource<Descriptor>, accessed: NewTimestamp, modified: NewTimestamp
        ) -> FsResult<()>;
        "create a directory" new entry in fd: async fn create_directory_at(
            fd: Resource<Descriptor>, path: String
        ) -> FsResult<()>;
        "change a file's times": async fn set_times_at(
            fd: Resource<Descriptor>, flags: PathFlags, path: String, accessed: NewTimestamp, modified: NewTimestamp
        ) -> FsResult<()>;
        "link a file" new entry in to: async fn link_at(
            fd: Resource<Descriptor>, flags: PathFlags, path: String, to: Resource<Descriptor>, to_path: String
        ) -> FsResult<()>;
        "remove a directory": async fn remove_directory_at(fd: Resource<Descriptor>, path: String) -> FsResult<()>;
        "rename a file": async fn rename_at(
            fd: Resource<Descriptor>, path: String, to: Resource<Descriptor>, to_path: String
        ) -> FsResult<()>;
        "link a file" new entry in fd: async fn symlink_at(
            fd: Resource<Descriptor>, target: String, path: String
        ) -> FsResult<()>;
        "delete a file": async fn unlink_file_at(fd: Resource<Descriptor>, path: String) -> FsResult<()>;
    }

    async fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        self.inner.is_same_object(a, b).await
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.begin_read()?;
        let result = self.inner.stat_at(fd, flags, path).await;
        self.unless_lacking(result)
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        if self.scratch.is_some() {
            self.inner.table.get(&fd)?;
            return Ok(());
        }
        let result = self.inner.sync(fd).await;
        self.unless_lacking(result)
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        if self.scratch.is_some() {
            self.inner.table.get(&fd)?;
            return Ok(());
        }
        let result = self.inner.sync_data(fd).await;
        self.unless_lacking(result)
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        if self.may_write(&fd)? && !self.quota.take_size(self.file(&fd)?, size).await {
            return Err(ErrorCode::InsufficientSpace.into());
        }
        self.begin()?;
        let result = self.inner.set_size(fd, size).await;
        self.quota.count_shrink();
        self.log_refusal("change a file's size", self.unless_lacking(result))
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        if self.may_write(&fd)? && !self.quota.take_write(self.file(&fd)?, offset, bytes.len()).await {
            return Err(ErrorCode::InsufficientSpace.into());
        }
        self.begin()?;
        let result = self.inner.write(fd, bytes, offset).await;
        self.log_refusal("write to a file", self.unless_lacking(result))
    }

    /// Reads a directory. Refuses a directory whose listing is too long, because the library reads all entries at once.
    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        if !self.handles.may_list() {
            return Err(ErrorCode::Quota.into());
        }
        self.begin_read()?;
        if let Descriptor::Dir(dir) = self.inner.table.get(&fd)? {
            let dir = dir.dir.clone();
            let counted = tokio::task::spawn_blocking(move || handles::is_too_long(&dir)).await;
            match counted.map_err(|_| ErrorCode::Io)? {
                Ok(false) => {}
                Ok(true) => return Err(ErrorCode::Quota.into()),
                Err(error) if is_lack(&error) => return Err(self.lack(&error)),
                Err(error) => return Err(FsError::from(ErrorCode::from(&error))),
            }
        }
        let listed = self.inner.read_directory(fd).await;
        let stream = self.unless_lacking(listed)?;
        self.handles.count_listing(stream.rep());
        Ok(stream)
    }

    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        if !self.handles.may_open_file() {
            return Err(ErrorCode::Quota.into());
        }
        self.begin_read()?;
        let exists = self.check_kind(&fd, path_flags, &path).await?;
        let opening = Opening { path_flags, path, open, flags };
        let changes = opening.changes();
        if open.contains(OpenFlags::CREATE) && !exists && self.may_write(&fd)? && !self.quota.take_entry() {
            return Err(ErrorCode::InsufficientSpace.into());
        }
        if changes {
            self.begin()?;
        }
        let Descriptor::Dir(dir) = self.inner.table.get(&fd)? else { return Err(ErrorCode::NotDirectory.into()) };
        let result = match opening.open_in(dir).await {
            Err(OpenError::Lack(lack)) => {
                if changes && is_lack_of_descriptors(&lack) {
                    self.watch.withdraw_side_effect();
                }
                return Err(self.lack(&lack));
            }
            Err(OpenError::Code(code)) => Err(FsError::from(code)),
            Ok(opened) => Ok(opened),
        };
        if open.contains(OpenFlags::TRUNCATE) {
            self.quota.count_shrink();
        }
        let opened = if changes { self.log_refusal("open a file for writing", result)? } else { result? };
        self.handles.count_file(&opened);
        Ok(self.inner.table.push(opened)?)
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let stream = self.inner.read_via_stream(fd, offset)?;
        let watched = watched_input(self.inner.table.delete(stream)?, self.watch);
        Ok(self.inner.table.push(watched)?)
    }
    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.begin()?;
        let file = self.file(&fd)?;
        let stream = self.inner.write_via_stream(fd, offset)?;
        self.limit(stream, file, Some(offset))
    }
    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.begin()?;
        let file = self.file(&fd)?;
        let stream = self.inner.append_via_stream(fd)?;
        self.limit(stream, file, None)
    }
    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.inner, fd)
    }
}

impl HostDirectoryEntryStream for Files<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let entry = self.inner.read_directory_entry(stream).await;
        self.unless_lacking(entry)
    }
    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.handles.listing_dropped(stream.rep());
        HostDirectoryEntryStream::drop(&mut self.inner, stream)
    }
}
