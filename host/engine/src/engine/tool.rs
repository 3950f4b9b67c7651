//! Runs a tool: applies its grants and its deadline, and determines whether the call may have changed the
//! world.

use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Instance, InstancePre, Linker};

use latchwork_core::encoding::truncate;
use latchwork_core::model::bounds;
use latchwork_core::model::effect::{Answer, Output, StateChange};
use latchwork_core::model::error::{Code, Failure};
use latchwork_core::model::manifest::Limits;

use crate::capability::HiddenSecrets;
use crate::capability::call_window::{CallWindow, Hindrances};
use crate::capability::config::ConfigViewData;
use crate::capability::context::CallContextViewData;
use crate::capability::filesystem::FilesData;
use crate::capability::kv::KvViewData;
use crate::capability::log::ToolLogViewData;
use crate::capability::open_dirs::OpenDirs;
use crate::capability::secrets::SecretsViewData;
use crate::capability::settings::PluginSettings;
use crate::capability::sockets::SocketsData;
use crate::capability::{name_lookup, tcp_connect};
use crate::engine::hindrance::{explain_error, explain_hindrance, unless_lacking};
use crate::engine::instance_pool::InstancePermits;
use crate::engine::pure_reads;
use crate::engine::schema;
use crate::engine::shape::Shape;
use crate::engine::tool_output::check_tool_output;
use crate::engine::tool_state::{ToolState, files, host_state, sockets};
use crate::engine::untyped::{CallableFunction, Functions, UntypedReturn};
use crate::guest::bindings::{export, import};
use crate::guest::permissions::{CallPermissions, DeniedBy};
use crate::guest::tool_call::ToolCallContext;
use crate::guest::{convert, fault, limits};
use crate::os::Machine;

/// End of one try of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEnd {
    /// The tool's answer, or the host's knowledge about a call without an answer.
    pub answer: Answer,
    /// Fuel used, without instantiation.
    pub fuel: u64,
    /// Duration in microseconds.
    pub wall_us: u64,
    /// Functions on the guest's stack when the host ended the call, innermost first. Empty for any other end.
    pub functions: Vec<String>,
}

/// Answer of `reconcile` about a call in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReconcileVerdict {
    /// The call happened, with this result.
    Happened(Output),
    /// The call certainly did not happen and never will.
    DidNotHappen,
    /// Not known yet: ask again after this many milliseconds.
    NotYet(u32),
    /// The tool cannot determine whether the call happened.
    Unknown,
}

/// Answer of `verify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyResult {
    /// The world matches the recorded change.
    Confirmed,
    /// The world does not match the recorded change. Contains the description of the actual state.
    Mismatch(String),
}

/// A tool plugin that is ready to be instantiated.
#[derive(Clone)]
pub(crate) struct ToolCode {
    pre: InstancePre<ToolState>,
    permits: InstancePermits,
    machine: Machine,
    pub(crate) dirs: OpenDirs,
    invoke: InvokeFunctions,
    reconcile: Option<export::reconcile::GuestIndices>,
    verify: Option<export::verify::GuestIndices>,
    compensate: Option<export::compensate::GuestIndices>,
}

/// Calling convention of the tool's operators.
#[derive(Clone)]
enum InvokeFunctions {
    Described(export::invoke::GuestIndices),
    Plain(Functions),
}

/// Function of a tool to call, with its arguments.
#[derive(Clone, Copy)]
pub(crate) enum ToolFunctionCall<'a> {
    Invoke { args: &'a str },
    Reconcile { args: &'a str },
    Verify { change: &'a StateChange },
    Compensate { external_key: &'a str, args: &'a str, result: &'a str },
}

/// Value that the tool returned.
pub(crate) enum ToolReturn {
    Output(import::types::ToolOutput),
    Verdict(export::reconcile::Verdict),
    Finding(export::verify::Finding),
    Error(import::types::Error),
    Plain(UntypedReturn),
}

/// Result of one call of a tool's function.
pub(crate) struct ToolCallResult {
    pub(crate) returned: Result<ToolReturn, Failure>,
    pub(crate) begun: bool,
    /// Accesses that the host refused or could not complete during the call.
    pub(crate) hindered: Hindrances,
    pub(crate) fuel: u64,
    pub(crate) wall_us: u64,
    pub(crate) functions: Vec<String>,
}

impl ToolCode {
    pub(crate) fn link(
        engine: &wasmtime::Engine,
        component: &Component,
        shape: Shape,
        (permits, machine): (InstancePermits, &Machine),
        dirs: OpenDirs,
        functions: Option<Functions>,
    ) -> wasmtime::Result<Self> {
        let mut linker = Linker::<ToolState>::new(engine);
        import::types::add_to_linker::<_, HasSelf<ToolState>>(&mut linker, host_state)?;
        import::context::add_to_linker::<_, CallContextViewData>(&mut linker, ToolState::context_view)?;
        import::invocation::add_to_linker::<_, CallContextViewData>(&mut linker, ToolState::context_view)?;
        import::log::add_to_linker::<_, ToolLogViewData>(&mut linker, ToolState::log_view)?;
        import::kv::add_to_linker::<_, KvViewData>(&mut linker, ToolState::kv_view)?;
        import::secrets::add_to_linker::<_, SecretsViewData>(&mut linker, ToolState::secrets_view)?;
        import::config::add_to_linker::<_, ConfigViewData>(&mut linker, ToolState::config_view)?;
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
        // The host replaces some interfaces of WASI. The host must see each change of a file, each name lookup, each new
        // socket and each connect.
        linker.allow_shadowing(true);
        use wasmtime_wasi::p2::bindings::filesystem::types;
        use wasmtime_wasi::p2::bindings::sockets::{tcp_create_socket, udp_create_socket};
        types::add_to_linker::<_, FilesData>(&mut linker, files)?;
        tcp_create_socket::add_to_linker::<_, SocketsData>(&mut linker, sockets)?;
        udp_create_socket::add_to_linker::<_, SocketsData>(&mut linker, sockets)?;
        name_lookup::add_to_linker(&mut linker, sockets)?;
        tcp_connect::add_to_linker(&mut linker, sockets)?;
        pure_reads::link(&mut linker)?;
        let pre = linker.instantiate_pre(component)?;
        Ok(Self {
            invoke: match functions {
                Some(functions) => InvokeFunctions::Plain(functions),
                None => InvokeFunctions::Described(export::invoke::GuestIndices::new(&pre)?),
            },
            reconcile: shape.reconcile.then(|| export::reconcile::GuestIndices::new(&pre)).transpose()?,
            verify: shape.verify.then(|| export::verify::GuestIndices::new(&pre)).transpose()?,
            compensate: shape.compensate.then(|| export::compensate::GuestIndices::new(&pre)).transpose()?,
            pre,
            permits,
            machine: machine.clone(),
            dirs,
        })
    }

    /// Returns the same code with other granted directories.
    pub(crate) fn with_dirs(&self, dirs: OpenDirs) -> Self {
        Self { dirs, ..self.clone() }
    }

    /// Functions of an untyped component, by operator.
    pub(crate) fn functions(&self) -> Option<&Functions> {
        match &self.invoke {
            InvokeFunctions::Described(_) => None,
            InvokeFunctions::Plain(functions) => Some(functions),
        }
    }

    /// Calls the tool once. The host ends the call at its deadline, a time of the host's boot clock.
    pub(crate) async fn call_function(
        &self,
        settings: &Arc<PluginSettings>,
        operator: &str,
        ask: ToolFunctionCall<'_>,
        call: ToolCallContext,
        permissions: CallPermissions,
        limits: &Limits,
    ) -> ToolCallResult {
        let since = self.machine.boot_us();
        let timeout_ms = call.timeout_ms;
        // The timeout of the call replaces the timeout in `limits`, because the plan or the operator may have set it.
        let limits = &Limits { timeout_ms, ..*limits };
        let deadline_us = call.started_boot_us.saturating_add(u64::from(timeout_ms) * 1_000);
        let watch = CallWindow::with_deadline(self.machine.clone(), deadline_us)
            .with_interruption(settings.interruption.clone());
        let (mut fuel, mut begun, mut functions, hindrances) = (0, false, vec![], watch.clone());
        let returned = match ToolState::new(
            settings.clone(),
            call,
            permissions,
            limits,
            &self.dirs,
            (watch.clone(), &self.machine),
        ) {
            Ok(state) => {
                let _turn = self.permits.acquire().await;
                let mut store = Store::new(self.pre.engine(), state);
                let asked = tokio::time::timeout(
                    watch.time_left(),
                    self.call_in_store(&mut store, operator, ask, limits, &mut fuel),
                );
                let answered = asked.await;
                fuel = fuel.saturating_sub(store.get_fuel().unwrap_or(0));
                let ended_us = self.machine.boot_us();
                begun = watch.close();
                // A function of an untyped component cannot report that it changed nothing. If the call has no
                // permission to write, the function certainly changed nothing, so `begun` becomes false.
                if !permissions.may_write() && matches!(&answered, Ok(Ok(ToolReturn::Plain(_)))) {
                    begun = false;
                }
                let state = store.data();
                let (words, placeholders) = (state.guard.last_words.clone(), state.placeholders.clone());
                // Before the result is returned, this drop closes everything that the guest had open.
                drop(store);
                match answered {
                    Ok(Ok(returned)) => Ok(returned),
                    // A failure before the deadline is reported as it is. The deadline itself can make a guest fail in
                    // many ways. Every failure after the deadline is therefore reported as a timeout.
                    Ok(Err(error)) if ended_us < deadline_us => {
                        functions = fault::stack_functions(&error);
                        let hide = |text: &[u8], is_truncated: bool| {
                            HiddenSecrets::new(settings, &placeholders).replace_in(text, is_truncated)
                        };
                        Err(words.explain(fault::failure(&error), hide))
                    }
                    Ok(Err(_)) | Err(_) => Err(timed_out(timeout_ms)),
                }
            }
            Err(error) => Err(Failure::new(Code::DependencyUnavailable, error.to_string())),
        };
        let hindered = hindrances.hindrances();
        ToolCallResult {
            returned: unless_lacking(returned, &hindered),
            begun,
            hindered,
            fuel,
            wall_us: self.machine.boot_us().saturating_sub(since),
            functions,
        }
    }

    async fn call_in_store(
        &self,
        store: &mut Store<ToolState>,
        operator: &str,
        ask: ToolFunctionCall<'_>,
        limits: &Limits,
        fuel: &mut u64,
    ) -> wasmtime::Result<ToolReturn> {
        limits::apply_limits(store, limits)?;
        store.set_hostcall_fuel(match &self.invoke {
            // The host copies an answer up to the size of the guest's maximum memory. An oversized answer is therefore
            // still copied completely, so its start can be kept.
            InvokeFunctions::Described(_) => usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX),
            InvokeFunctions::Plain(_) => CallableFunction::hostcall_fuel(limits.output_bytes),
        });
        let instance = self.pre.instantiate_async(&mut *store).await?;
        store.set_fuel(limits.fuel)?;
        *fuel = limits.fuel;
        store.data_mut().has_begun = true;
        self.call_export(store, &instance, operator, ask, limits.output_bytes).await
    }

    async fn call_export(
        &self,
        store: &mut Store<ToolState>,
        instance: &Instance,
        operator: &str,
        ask: ToolFunctionCall<'_>,
        output_bytes: u32,
    ) -> wasmtime::Result<ToolReturn> {
        const ASKED: &str = "called only if exported";
        let external_key = &store.data().call.external_key.clone();
        Ok(match ask {
            ToolFunctionCall::Invoke { args } => match &self.invoke {
                InvokeFunctions::Described(indices) => {
                    let guest = indices.load(&mut *store, instance)?;
                    guest
                        .call_invoke(store, operator, &args.to_owned())
                        .await?
                        .map_or_else(ToolReturn::Error, ToolReturn::Output)
                }
                InvokeFunctions::Plain(functions) => {
                    let function = functions.get(operator).expect("the manifest names the operator");
                    ToolReturn::Plain(function.call(store, instance, args, output_bytes).await?)
                }
            },
            ToolFunctionCall::Reconcile { args } => {
                let guest = self.reconcile.as_ref().expect(ASKED).load(&mut *store, instance)?;
                let returned = guest.call_reconcile(store, operator, external_key, &args.to_owned()).await?;
                returned.map_or_else(ToolReturn::Error, ToolReturn::Verdict)
            }
            ToolFunctionCall::Verify { change } => {
                let guest = self.verify.as_ref().expect(ASKED).load(&mut *store, instance)?;
                let returned = guest.call_verify(store, operator, &convert::guest_state_change(change)).await?;
                returned.map_or_else(ToolReturn::Error, ToolReturn::Finding)
            }
            // Passes the external key of the call that is undone, not the key of the compensating call.
            ToolFunctionCall::Compensate { external_key, args, result } => {
                let guest = self.compensate.as_ref().expect(ASKED).load(&mut *store, instance)?;
                let returned =
                    guest.call_compensate(store, operator, external_key, &args.to_owned(), &result.to_owned()).await?;
                returned.map_or_else(ToolReturn::Error, ToolReturn::Output)
            }
        })
    }
}

impl ToolCallResult {
    /// Returns true if the host refused an access during the call.
    pub(crate) fn was_denied(&self) -> bool {
        self.hindered.denied.is_some()
    }

    /// Returns what the function returned, or the failure with the access that explains it.
    pub(crate) fn into_return(self, limits: &Limits) -> Result<ToolReturn, Failure> {
        match self.returned {
            Ok(ToolReturn::Error(error)) => {
                let oversized = convert::oversized_error(&error, limits);
                Err(explain_error(convert::failure(error), self.hindered, oversized))
            }
            returned => returned.map_err(|failure| explain_hindrance(failure, self.hindered)),
        }
    }

    /// Converts the result of `invoke` or `compensate` into the end of the try. Checks the answer against
    /// `schema`, if given.
    pub(crate) fn into_end(self, limits: &Limits, schema: Option<&schema::Schemas>) -> ToolEnd {
        let ToolCallResult { returned, begun, hindered, fuel, wall_us, functions } = self;
        if let Some((DeniedBy::DryRun, why)) = hindered.denied {
            // The mode skips the call, regardless of how the guest handled the refusal.
            let answer = Answer::NotApplied(Failure::new(Code::ModeForbids, why));
            return ToolEnd { answer, fuel, wall_us, functions };
        }
        let doubtful = |failure, kept: Option<&str>| match begun {
            false => Answer::NotApplied(failure),
            true => Answer::Unknown {
                failure,
                kept: kept.map(|text| truncate::at_bytes(text, bounds::KEPT_ANSWER_BYTES).start.to_owned()),
            },
        };
        let answer = match returned {
            Ok(ToolReturn::Output(output)) => {
                let output = convert::output(output);
                match check_tool_output(&output, limits, schema) {
                    Ok(()) => Answer::Ok(output),
                    Err(failure) => doubtful(failure, Some(&output.result)),
                }
            }
            Ok(ToolReturn::Error(error)) => {
                let applied = error.applied;
                let oversized = convert::oversized_error(&error, limits);
                let is_oversized = oversized.is_some();
                let reported = convert::failure(error);
                let is_exception = !reported.code.is_guest_code();
                let was_denied = hindered.denied.is_some();
                let failure = explain_error(reported, hindered, oversized);
                match applied {
                    // The host keeps nothing of such an error, so its report about applied changes does not count.
                    _ if is_oversized => doubtful(failure, None),
                    // The guest's code failed unexpectedly, so its report about applied changes is not reliable. The
                    // host's record of begun operations decides.
                    _ if is_exception => doubtful(failure, None),
                    import::types::Applied::No => Answer::NotApplied(failure),
                    // The guest may not know that the host refused its request. The host's record decides here, too.
                    import::types::Applied::Unknown if was_denied => doubtful(failure, None),
                    import::types::Applied::Unknown => Answer::Unknown { failure, kept: None },
                }
            }
            Ok(ToolReturn::Plain(UntypedReturn::Text(result))) => {
                let output = Output { result, receipt: None, state_changes: vec![], usage: None };
                Answer::Ok(output)
            }
            Ok(ToolReturn::Plain(UntypedReturn::NotCalled(failure))) => Answer::NotApplied(failure),
            // A function of an untyped component cannot report if it applied a change. The host's record of begun
            // operations decides.
            Ok(ToolReturn::Plain(UntypedReturn::Error(failure))) => doubtful(failure, None),
            Ok(ToolReturn::Plain(UntypedReturn::Unusable(failure, kept))) => doubtful(failure, kept.as_deref()),
            Ok(ToolReturn::Verdict(_) | ToolReturn::Finding(_)) => {
                doubtful(Failure::new(Code::Internal, "the tool answered another question"), None)
            }
            Err(failure) => doubtful(explain_hindrance(failure, hindered), None),
        };
        ToolEnd { answer, fuel, wall_us, functions }
    }
}

fn timed_out(timeout_ms: u32) -> Failure {
    Failure::new(Code::WallClockLimit, format!("the call did not end within its {timeout_ms} ms"))
}
