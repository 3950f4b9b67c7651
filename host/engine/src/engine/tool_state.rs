//! Data in the wasmtime `Store` of a running tool, and its views for WASI and for the host's own interfaces.

use std::sync::Arc;

use tracing::Level;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::sockets::WasiSocketsCtxView;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use latchwork_core::model::bounds;
use latchwork_core::model::manifest::Limits;

use crate::capability::Placeholders;
use crate::capability::call_window::CallWindow;
use crate::capability::config::ConfigView;
use crate::capability::context::CallContextView;
use crate::capability::filesystem::Files;
use crate::capability::handles::Handles;
use crate::capability::host_call_gate::HostCallGate;
use crate::capability::http::RequestHooks;
use crate::capability::kv::KvView;
use crate::capability::log::ToolLogView;
use crate::capability::open_dirs::OpenDirs;
use crate::capability::secrets::SecretsView;
use crate::capability::settings::PluginSettings;
use crate::capability::sockets::{ResolvedNames, Sockets};
use crate::capability::stdio::LogStream;
use crate::capability::write_quota::WriteQuota;
use crate::guest::bindings::import;
use crate::guest::limits::{Guard, Guarded};
use crate::guest::permissions::CallPermissions;
use crate::guest::tool_call::ToolCallContext;
use crate::os::Machine;

/// Data in the wasmtime `Store` of a running tool.
pub(crate) struct ToolState {
    pub(crate) settings: Arc<PluginSettings>,
    pub(crate) call: ToolCallContext,
    pub(crate) permissions: CallPermissions,
    pub(crate) watch: CallWindow,
    /// True after the instantiation, when the host has called the tool's function.
    pub(crate) has_begun: bool,
    pub(crate) placeholders: Placeholders,
    pub(crate) guard: Guard,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    requests: RequestHooks,
    names: ResolvedNames,
    handles: Handles,
    /// Quota of written bytes. Most calls use no files, so the first use of a file creates the quota.
    quota: Option<WriteQuota>,
    table: ResourceTable,
    /// Handle table that WASI gets after the deadline of the call. The table is empty and has no capacity.
    no_handles: ResourceTable,
}

impl ToolState {
    pub(crate) fn new(
        settings: Arc<PluginSettings>,
        call: ToolCallContext,
        permissions: CallPermissions,
        limits: &Limits,
        dirs: &OpenDirs,
        (watch, machine): (CallWindow, &Machine),
    ) -> wasmtime::Result<Self> {
        let names = ResolvedNames::default();
        let mut wasi = WasiCtx::builder();
        wasi.stdout(LogStream::new(&settings.name, &call.slot, Level::INFO));
        let guard = Guard::new(limits);
        let stderr = LogStream::new(&settings.name, &call.slot, Level::WARN);
        wasi.stderr(stderr.with_last_words(guard.last_words.clone()));
        if permissions.is_pure {
            crate::capability::fix_for_pure(&mut wasi);
        } else if settings.http_stub.is_some() {
            crate::capability::fix_for_check(&mut wasi, &call.external_key, call.tries_before);
        }
        dirs.give_to(&mut wasi, permissions)?;
        let tcp = !settings.grants.tcp.is_empty();
        // UDP stays refused. It is enabled here only so that the address check below runs: the check refuses each use
        // of UDP and logs the refusal.
        wasi.allow_tcp(tcp).allow_ip_name_lookup(tcp).allow_udp(tcp);
        let (check_names, check_settings, check_watch) = (names.clone(), settings.clone(), watch.clone());
        wasi.socket_addr_check(move |address, reason| {
            let settings = &check_settings;
            let allowed =
                check_names.check(&settings.name, &settings.grants, permissions, &check_watch, address, reason);
            Box::pin(std::future::ready(allowed))
        });
        let placeholders = Placeholders::new(machine.clone());
        let requests = RequestHooks {
            settings: settings.clone(),
            permissions,
            watch: watch.clone(),
            placeholders: placeholders.clone(),
            slots: None,
        };
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(bounds::FIELD_BYTES);
        let (mut table, mut no_handles) = (ResourceTable::new(), ResourceTable::new());
        table.set_max_capacity(bounds::HANDLES);
        no_handles.set_max_capacity(0);
        Ok(Self {
            guard,
            wasi: wasi.build(),
            http,
            requests,
            names,
            handles: Handles::default(),
            quota: None,
            table,
            no_handles,
            placeholders,
            settings,
            call,
            permissions,
            watch,
            has_begun: false,
        })
    }

    /// Returns the part of the state that the context uses.
    pub(crate) fn context_view(&mut self) -> CallContextView<'_> {
        let gate = HostCallGate { guard: &mut self.guard, window: &self.watch };
        CallContextView { gate, call: &self.call }
    }

    /// Returns the part of the state that the log uses.
    pub(crate) fn log_view(&mut self) -> ToolLogView<'_> {
        let gate = HostCallGate { guard: &mut self.guard, window: &self.watch };
        ToolLogView { gate, plugin: &self.settings.name, slot: &self.call.slot }
    }

    /// Returns the part of the state that the key-value map uses.
    pub(crate) fn kv_view(&mut self) -> KvView<'_> {
        KvView {
            gate: HostCallGate { guard: &mut self.guard, window: &self.watch },
            plugin: &self.settings.name,
            tenant: &self.call.step.tenant,
            grants: &self.settings.grants,
            permissions: self.permissions,
            kv: self.settings.kv.as_ref(),
        }
    }

    /// Returns the part of the state that the secrets use.
    pub(crate) fn secrets_view(&mut self) -> SecretsView<'_> {
        SecretsView {
            gate: HostCallGate { guard: &mut self.guard, window: &self.watch },
            plugin: &self.settings.name,
            grants: &self.settings.grants,
            permissions: self.permissions,
            secrets: self.settings.secrets.as_ref(),
            placeholders: &self.placeholders,
        }
    }

    /// Returns the part of the state that the configuration uses.
    pub(crate) fn config_view(&mut self) -> ConfigView<'_> {
        let gate = HostCallGate { guard: &mut self.guard, window: &self.watch };
        ConfigView { gate, config: &self.settings.config }
    }
}

impl import::types::Host for ToolState {}

/// Closes the call window. A call may be abandoned before the guest returns. Dropping its state then ends the call.
impl Drop for ToolState {
    fn drop(&mut self) {
        self.watch.close();
    }
}

impl Guarded for ToolState {
    fn guard(&mut self) -> &mut Guard {
        &mut self.guard
    }
}

/// Checks the deadline of the call. Every WASI function first requests this view, so the check happens at each host
/// call. After the deadline, the view has an empty handle table. A function that receives or creates a handle then
/// traps.
impl WasiView for ToolState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let in_time = self.watch.check().is_ok();
        let table = if in_time { &mut self.table } else { &mut self.no_handles };
        WasiCtxView { ctx: &mut self.wasi, table }
    }
}

impl WasiHttpView for ToolState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let in_time = self.watch.check().is_ok();
        let table = if in_time { &mut self.table } else { &mut self.no_handles };
        WasiHttpCtxView { hooks: &mut self.requests, table, ctx: &mut self.http }
    }
}

pub(crate) fn host_state(state: &mut ToolState) -> &mut ToolState {
    state
}

pub(crate) fn files(state: &mut ToolState) -> Files<'_> {
    let in_time = state.watch.check().is_ok();
    let table = if in_time { &mut state.table } else { &mut state.no_handles };
    Files {
        inner: WasiFilesystemCtxView { ctx: state.wasi.filesystem(), table },
        watch: &state.watch,
        plugin: &state.settings.name,
        grants: &state.settings.grants,
        permissions: state.permissions,
        handles: &mut state.handles,
        quota: state.quota.get_or_insert_with(|| WriteQuota::new(state.settings.clone(), state.watch.clone())),
        scratch: state.settings.scratch.as_deref(),
    }
}

pub(crate) fn sockets(state: &mut ToolState) -> Sockets<'_> {
    let in_time = state.watch.check().is_ok();
    let table = if in_time { &mut state.table } else { &mut state.no_handles };
    Sockets {
        inner: WasiSocketsCtxView { ctx: state.wasi.sockets(), table },
        names: &state.names,
        watch: &state.watch,
        plugin: &state.settings.name,
        grants: &state.settings.grants,
        permissions: state.permissions,
        handles: &mut state.handles,
    }
}
