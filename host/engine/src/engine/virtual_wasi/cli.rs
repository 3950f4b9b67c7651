//! `wasi:cli` for a program without arguments, environment and terminal.

use wasmtime::component::Resource;
use wasmtime_wasi::I32Exit;

use crate::engine::step_state::StepInstanceState;
use crate::engine::virtual_wasi::bindings::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr, terminal_stdin,
    terminal_stdout,
};
use crate::engine::virtual_wasi::handles::{StdStream, Stdin, Terminal};

impl environment::Host for StepInstanceState {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        self.count_wasi_call(1)?;
        Ok(vec![])
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        self.count_wasi_call(1)?;
        Ok(vec![])
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        self.count_wasi_call(1)?;
        Ok(None)
    }
}

/// Ends the guest. Module `fault` creates the message.
impl exit::Host for StepInstanceState {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(I32Exit(i32::from(status.is_err())).into())
    }

    fn exit_with_code(&mut self, status_code: u8) -> wasmtime::Result<()> {
        Err(I32Exit(i32::from(status_code)).into())
    }
}

impl stdin::Host for StepInstanceState {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<Stdin>> {
        self.count_wasi_call(1)?;
        self.new_handle(Stdin)
    }
}

impl stdout::Host for StepInstanceState {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<StdStream>> {
        self.count_wasi_call(1)?;
        self.new_handle(StdStream::Out)
    }
}

impl stderr::Host for StepInstanceState {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<StdStream>> {
        self.count_wasi_call(1)?;
        self.new_handle(StdStream::Err)
    }
}

impl StepInstanceState {
    fn no_terminal(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        self.count_wasi_call(1)?;
        Ok(None)
    }

    /// Always fails, because no terminal handle exists.
    fn drop_terminal(&mut self, terminal: Resource<Terminal>) -> wasmtime::Result<()> {
        self.wasi.table.delete(terminal)?;
        Ok(())
    }
}

impl terminal_input::HostTerminalInput for StepInstanceState {
    fn drop(&mut self, terminal: Resource<Terminal>) -> wasmtime::Result<()> {
        self.drop_terminal(terminal)
    }
}

impl terminal_input::Host for StepInstanceState {}

impl terminal_output::HostTerminalOutput for StepInstanceState {
    fn drop(&mut self, terminal: Resource<Terminal>) -> wasmtime::Result<()> {
        self.drop_terminal(terminal)
    }
}

impl terminal_output::Host for StepInstanceState {}

impl terminal_stdin::Host for StepInstanceState {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        self.no_terminal()
    }
}

impl terminal_stdout::Host for StepInstanceState {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        self.no_terminal()
    }
}

impl terminal_stderr::Host for StepInstanceState {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<Terminal>>> {
        self.no_terminal()
    }
}
