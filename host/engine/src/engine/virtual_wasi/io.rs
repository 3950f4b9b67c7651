//! `wasi:io/streams` and `wasi:io/error`: standard input is at its end, output becomes log records, and
//! writes never fail.

use wasmtime::component::Resource;

use latchwork_core::model::bounds;

use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::io::{error, streams};
use crate::engine::virtual_wasi::handles::{IoError, Pollable, StdStream, Stdin};
use crate::guest::fault::HostFault;

/// Result of a stream operation.
type StreamResult<T> = wasmtime::Result<Result<T, streams::StreamError>>;

impl StepInstanceState {
    /// Reports the end of the stream, for reads, skips and splices.
    fn at_end<T>(&mut self, stdin: &Resource<Stdin>) -> StreamResult<T> {
        self.count_wasi_call(1)?;
        self.wasi.table.get(stdin)?;
        Ok(Err(streams::StreamError::Closed))
    }

    fn write(&mut self, stream: &Resource<StdStream>, bytes: &[u8]) -> StreamResult<()> {
        self.count_wasi_call(1)?;
        let stream = *self.wasi.table.get(stream)?;
        if bytes.len() > bounds::STEP_WRITE_BYTES {
            return Err(HostFault::OversizedWrite(bytes.len(), bounds::STEP_WRITE_BYTES).into());
        }
        if stream == StdStream::Err {
            self.guard.last_words.add(bytes);
        }
        self.wasi.output.write(stream, bytes, &mut *self.calls);
        Ok(Ok(()))
    }

    fn write_zeroes(&mut self, stream: &Resource<StdStream>, len: u64) -> StreamResult<()> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        // At most one byte more than the maximum is allocated. This suffices for `write` to detect that the write is
        // too large.
        let zeroes = vec![0; len.min(bounds::STEP_WRITE_BYTES + 1)];
        self.write(stream, &zeroes)
    }

    /// Reports success, because the host has already received everything written.
    fn check_stream(&mut self, stream: &Resource<StdStream>) -> StreamResult<()> {
        self.count_wasi_call(1)?;
        self.wasi.table.get(stream)?;
        Ok(Ok(()))
    }
}

impl error::HostError for StepInstanceState {
    fn to_debug_string(&mut self, error: Resource<IoError>) -> wasmtime::Result<String> {
        match *self.wasi.table.get(&error)? {}
    }

    fn drop(&mut self, error: Resource<IoError>) -> wasmtime::Result<()> {
        match self.wasi.table.delete(error)? {}
    }
}

impl error::Host for StepInstanceState {}

impl streams::HostInputStream for StepInstanceState {
    fn read(&mut self, stdin: Resource<Stdin>, _len: u64) -> StreamResult<Vec<u8>> {
        self.at_end(&stdin)
    }

    fn blocking_read(&mut self, stdin: Resource<Stdin>, _len: u64) -> StreamResult<Vec<u8>> {
        self.at_end(&stdin)
    }

    fn skip(&mut self, stdin: Resource<Stdin>, _len: u64) -> StreamResult<u64> {
        self.at_end(&stdin)
    }

    fn blocking_skip(&mut self, stdin: Resource<Stdin>, _len: u64) -> StreamResult<u64> {
        self.at_end(&stdin)
    }

    fn subscribe(&mut self, stdin: Resource<Stdin>) -> wasmtime::Result<Resource<Pollable>> {
        self.count_wasi_call(1)?;
        self.wasi.table.get(&stdin)?;
        self.new_handle(Pollable::Ready)
    }

    fn drop(&mut self, stdin: Resource<Stdin>) -> wasmtime::Result<()> {
        self.wasi.table.delete(stdin)?;
        Ok(())
    }
}

impl streams::HostOutputStream for StepInstanceState {
    fn check_write(&mut self, stream: Resource<StdStream>) -> StreamResult<u64> {
        Ok(self.check_stream(&stream)?.map(|()| bounds::STEP_WRITE_BYTES as u64))
    }

    fn write(&mut self, stream: Resource<StdStream>, contents: Vec<u8>) -> StreamResult<()> {
        StepInstanceState::write(self, &stream, &contents)
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<StdStream>, contents: Vec<u8>) -> StreamResult<()> {
        StepInstanceState::write(self, &stream, &contents)
    }

    fn flush(&mut self, stream: Resource<StdStream>) -> StreamResult<()> {
        self.check_stream(&stream)
    }

    fn blocking_flush(&mut self, stream: Resource<StdStream>) -> StreamResult<()> {
        self.check_stream(&stream)
    }

    fn subscribe(&mut self, stream: Resource<StdStream>) -> wasmtime::Result<Resource<Pollable>> {
        self.count_wasi_call(1)?;
        self.wasi.table.get(&stream)?;
        self.new_handle(Pollable::Ready)
    }

    fn write_zeroes(&mut self, stream: Resource<StdStream>, len: u64) -> StreamResult<()> {
        StepInstanceState::write_zeroes(self, &stream, len)
    }

    fn blocking_write_zeroes_and_flush(&mut self, stream: Resource<StdStream>, len: u64) -> StreamResult<()> {
        StepInstanceState::write_zeroes(self, &stream, len)
    }

    fn splice(&mut self, _stream: Resource<StdStream>, stdin: Resource<Stdin>, _len: u64) -> StreamResult<u64> {
        self.at_end(&stdin)
    }

    fn blocking_splice(
        &mut self,
        _stream: Resource<StdStream>,
        stdin: Resource<Stdin>,
        _len: u64,
    ) -> StreamResult<u64> {
        self.at_end(&stdin)
    }

    fn drop(&mut self, stream: Resource<StdStream>) -> wasmtime::Result<()> {
        self.wasi.table.delete(stream)?;
        Ok(())
    }
}

impl streams::Host for StepInstanceState {}
