//! Settings of the whole configuration. A valid file is read completely.

use std::path::{Path, PathBuf};

use serde_json::json;

use latchwork::config::{CommitMode, Config, Durability, Failover};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{EffectKind, OnIndeterminate};
use latchwork_core::model::mode::Mode;
use latchwork_engine::capability::config_line::config_line;
use latchwork_engine::capability::grants::{DirGrant, Grants, HttpGrant, KvGrant, Origin, TcpGrant};

use crate::config::{Folder, problems};

#[test]
fn missing_file_gives_the_default_configuration() {
    let folder = Folder::empty();
    let config = folder.load().unwrap();
    assert_eq!(config.root(), folder.path());
    assert_eq!(config.file(), None);
    assert_eq!(config.database(), format!("sqlite://{}/latch.db", folder.path().display()));
    assert_eq!(config.state_dir(), folder.path().join(".latch"));
    assert_eq!((config.lease_ms(), config.heartbeat_ms(), config.clock_margin_ms()), (15_000, 5_000, 2_000));
    assert_eq!((config.commit(), config.durability()), (CommitMode::Atomic, Durability::Full));
    assert_eq!(config.max_attempts_without_progress(), 5);
    assert_eq!(config.keep_undoable_ms(), 30 * 86_400_000);
    assert_eq!(config.policy()["default"].modes, [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated]);
    assert!(config.plugins().is_empty());
}

/// Returns a file with a value for every setting.
fn complete_file(digest: Hash) -> String {
    format!(
        r#"
database = "sqlite://data/latch.db"
commit = "staged"
effect_store = "sqlite:///var/effects.db"
durability = "relaxed"
on_indeterminate = "fail"
lease = "20s"
heartbeat = "4s"
clock_margin = "1s"
max_attempts_without_progress = 7
keep_undoable = "60days"
state_dir = "state"

[policy.default]
modes = ["HUMAN_GATED", "DRY_RUN"]
standing_approvals = false

[policy.acme]
gate = {{ effects = ["internal_write"], tags = ["money", "law", "money"] }}

[[plugin]]
name = "mail"
source = "plugins/mail.wasm"
digest = "sha256:{digest}"
wasi = "none"
on_indeterminate = "park"
grants = {{ http = ["https://api.example.com", "http://127.0.0.1:8080"], tcp = ["smtp.example.com:587"], dirs = [{{ host = "outbox", guest = "/outbox", write = true }}, {{ host = "/etc/mail", guest = "/conf" }}], secrets = ["MAIL_TOKEN"], secrets_clear = true, kv = "mail" }}
limits = {{ memory = "128MiB", fuel = 5_000_000_000, timeout = "1m 30s", output = "2MiB", host_calls = 50 }}
config = {{ from = "me@example.org", retries = 3, ratio = 0.5, on = true, nested = {{ list = [1, "two"] }} }}
"#
    )
}

#[test]
fn every_setting_is_read() {
    let digest = Hash::of(&[b"component"]);
    let folder = Folder::with(&complete_file(digest));
    let config = folder.load().unwrap();
    let root = folder.path();
    assert_eq!(config.database(), format!("sqlite://{}/data/latch.db", root.display()));
    assert_eq!(config.commit(), CommitMode::Staged);
    assert_eq!(config.effect_store(), Some("sqlite:///var/effects.db"));
    assert_eq!(config.durability(), Durability::Relaxed);
    assert_eq!(config.on_indeterminate(), OnIndeterminate::Fail);
    assert_eq!((config.lease_ms(), config.heartbeat_ms(), config.clock_margin_ms()), (20_000, 4_000, 1_000));
    assert_eq!(config.max_attempts_without_progress(), 7);
    assert_eq!(config.keep_undoable_ms(), 60 * 86_400_000);
    assert_eq!(config.state_dir(), root.join("state"));
    assert_eq!(config.file(), Some(&*root.join("latch.toml")));
    check_policies(&config);
    check_plugin(&config, root, digest);
}

fn check_policies(config: &Config) {
    let default = &config.policy()["default"];
    assert_eq!(default.modes, [Mode::DryRun, Mode::HumanGated]);
    assert_eq!(default.gate_effects, [EffectKind::ExternalWrite, EffectKind::ExternalSend]);
    assert!(!default.standing_approvals);
    let acme = &config.policy()["acme"];
    assert_eq!(acme.modes, default.modes, "omitted keys of a tenant have the values of the default policy");
    assert!(!acme.standing_approvals, "omitted keys of a tenant have the values of the default policy");
    assert_eq!(acme.gate_effects, [EffectKind::InternalWrite]);
    assert_eq!(acme.gate_tags, ["law", "money"]);
}

fn check_plugin(config: &Config, root: &Path, digest: Hash) {
    let [mail] = config.plugins() else { panic!("one plugin") };
    assert_eq!(mail.name, "mail");
    assert_eq!(mail.source, root.join("plugins/mail.wasm"));
    assert_eq!(mail.digest, Some(digest));
    assert_eq!(mail.on_indeterminate, Some(OnIndeterminate::Park));
    let http = |scheme: &str, host: &str, port| {
        HttpGrant::read_only(Origin { scheme: scheme.into(), host: host.into(), port })
    };
    assert_eq!(mail.grants.http, [http("https", "api.example.com", 443), http("http", "127.0.0.1", 8080)]);
    assert_eq!(mail.grants.tcp, [TcpGrant { host: "smtp.example.com".into(), port: 587 }]);
    let dir = |host: PathBuf, guest: &str, write| DirGrant { host, guest: guest.into(), write };
    let dirs = [dir(root.join("outbox"), "/outbox", true), dir("/etc/mail".into(), "/conf", false)];
    assert_eq!(mail.grants.dirs, dirs);
    assert_eq!(mail.grants.secrets, ["MAIL_TOKEN"]);
    assert!(mail.grants.secrets_clear);
    assert_eq!(mail.grants.kv, Some("mail".into()));
    assert_eq!(mail.limits.memory_bytes, Some(128 << 20));
    assert_eq!(mail.limits.fuel, Some(5_000_000_000));
    assert_eq!(mail.limits.timeout_ms, Some(90_000));
    assert_eq!(mail.limits.output_bytes, Some(2 << 20));
    assert_eq!(mail.limits.host_calls, Some(50));
    let read = serde_json::to_value(&mail.config).unwrap();
    let expected =
        json!({"from": "me@example.org", "retries": 3, "ratio": 0.5, "on": true, "nested": {"list": [1, "two"]}});
    assert_eq!(read, expected);
}

/// I232.
#[test]
fn grant_of_a_map_is_a_name_or_a_table() {
    let with = |kv: &str| format!("[[plugin]]\nname = \"p\"\nsource = \"p.wasm\"\n[plugin.grants]\nkv = {kv}\n");
    let read = |kv: &str| Folder::with(&with(kv)).load().unwrap().plugins()[0].grants.kv.clone().unwrap();
    assert_eq!(read("\"mail\""), KvGrant { name: "mail".into(), is_shared: false, bytes: 16 << 20 });
    assert_eq!(read("{ name = \"mail\" }"), KvGrant::named("mail"));
    let whole = KvGrant { name: "mail".into(), is_shared: true, bytes: 64 << 20 };
    assert_eq!(read("{ name = \"mail\", shared = true, bytes = \"64MiB\" }"), whole);
    assert_eq!(read("{ name = \"mail\", bytes = \"1099511627776B\" }").bytes, KvGrant::BYTES_MAX);
    // Messages print a grant as a line of the configuration. The line is read as the same grant.
    for grant in [KvGrant::named("mail"), whole, KvGrant { bytes: 3_000, ..KvGrant::named("mail") }] {
        let line = config_line(&Grants { kv: Some(grant.clone()), ..Grants::default() });
        let text = format!("[[plugin]]\nname = \"p\"\nsource = \"p.wasm\"\n{line}\n");
        assert_eq!(Folder::with(&text).load().unwrap().plugins()[0].grants.kv, Some(grant), "{line}");
    }
    for (kv, says) in [
        ("{ shared = true }", "5:6 L0007 plugin[0].grants.kv: `name` is missing"),
        ("{ name = \"a b\" }", "plugin[0].grants.kv.name: invalid name"),
        ("{ name = \"m\", share = true }", "did you mean `shared`?"),
        ("{ name = \"m\", shared = \"yes\" }", "plugin[0].grants.kv.shared: "),
        ("{ name = \"m\", bytes = \"0B\" }", "is not between 1 and 1099511627776 bytes"),
        ("{ name = \"m\", bytes = \"1025GiB\" }", "is not between 1 and 1099511627776 bytes"),
        ("{ name = \"m\", bytes = 7 }", "plugin[0].grants.kv.bytes: "),
        ("[\"m\"]", "plugin[0].grants.kv: "),
    ] {
        let found = problems(&with(kv));
        assert!(found.iter().any(|problem| problem.contains(says)), "{kv}: {found:?}");
    }
}

/// I269.
#[test]
fn quota_of_folders_is_a_size() {
    let with = |line: &str| format!("[[plugin]]\nname = \"p\"\nsource = \"p.wasm\"\n{line}\n");
    let read = |line: &str| Folder::with(&with(line)).load().unwrap().plugins()[0].grants.dir_bytes;
    assert_eq!(read(""), None);
    assert_eq!(Grants::default().dir_bytes(), 1 << 30);
    for bytes in [3_000, 2 << 30, Grants::DIR_BYTES_MAX] {
        // Messages print a grant as a line of the configuration. The line is read as the same grant.
        let line = config_line(&Grants { dir_bytes: Some(bytes), ..Grants::default() });
        assert_eq!(read(&line), Some(bytes), "{line}");
    }
    for (value, says) in [
        ("\"0B\"", "is not between 1 and 1125899906842624 bytes"),
        ("\"1048577GiB\"", "is not between 1 and 1125899906842624 bytes"),
        ("7", "plugin[0].grants.dir_bytes: "),
    ] {
        let found = problems(&with(&format!("grants = {{ dir_bytes = {value} }}")));
        assert!(found.iter().any(|problem| problem.contains(says)), "{value}: {found:?}");
    }
}

#[test]
fn only_synchronous_failover_trusts_a_standby() {
    let failover = |text: &str| Folder::with(text).load().unwrap().failover();
    assert_eq!(failover(""), Failover::Accepted);
    assert_eq!(failover("failover = \"synchronous\""), Failover::Synchronous);
    let found = problems("failover = \"sync\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("synchronous"), "{found:?}");
}

#[test]
fn webhook_is_read_and_its_address_is_not_repeated() {
    let config = Folder::with("[notify]\nwebhook = \"https://h.example/s3cret\"\ntimeout = \"3s\"").load().unwrap();
    let notify = config.notify().unwrap();
    assert_eq!((notify.webhook.path(), notify.origin.port, notify.timeout_ms), ("/s3cret", 443, 3_000));
    assert!(!format!("{config:?}").contains("s3cret"));
    for good in ["http://127.0.0.1:9/x", "http://[::1]/x", "http://localhost/x"] {
        assert!(Folder::with(&format!("[notify]\nwebhook = {good:?}")).load().is_ok(), "{good}");
    }
    let stated = "[notify]\nwebhook = \"http://h.example/x\"\nallow_http = true";
    assert!(Folder::with(stated).load().is_ok());
    for (lines, says) in [
        ("webhook = \"http://h.example/s3cret\"", "use `https`"),
        ("webhook = \"ftp://h.example/s3cret\"", "of the URL is invalid"),
        ("webhook = \"/s3cret\"", "no scheme"),
        ("webhook = \"https://u:s3cret@h.example/\"", "use `headers`"),
        ("webhok = \"https://h.example/\"", "did you mean `webhook`?"),
        ("timeout = \"1s\"", "`webhook` is missing"),
    ] {
        let found = problems(&format!("[notify]\n{lines}"));
        assert!(found.iter().any(|problem| problem.contains(says)), "{lines}: {found:?}");
        assert!(!found.concat().contains("s3cret"), "{found:?}");
    }
}

#[test]
fn validators_are_read_by_name() {
    use latchwork::config::validator::BuiltinValidator;
    let config = Folder::with("[validators]\nrun = [\"static\", \"sandbox\"]").load().unwrap();
    assert_eq!(config.validators(), [BuiltinValidator::Static, BuiltinValidator::Sandbox]);
    assert!(Folder::empty().load().unwrap().validators().is_empty(), "none by default");
    let found = problems("[validators]\nrun = [\"sandbx\"]\nrum = 1");
    assert!(found[0].starts_with("2:8 L0006 validators.run[0]: ") && found[0].contains("`sandbox`"), "{found:?}");
    assert!(found[1].contains("did you mean `run`?"), "{found:?}");
}
