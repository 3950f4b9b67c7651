//! `latch.toml`: every problem is listed with its position, and a valid file is read completely.

use std::path::{Path, PathBuf};

use serde_json::json;

use latchwork::config::{CommitMode, Config, ConfigErrors, Durability, Failover, LoadOptions, SettingSource};
use latchwork_core::model::ids::Hash;
use latchwork_core::model::manifest::{EffectKind, OnIndeterminate, WasiMode};
use latchwork_core::model::mode::Mode;
use latchwork_engine::capability::grants::{DirGrant, HttpGrant, TcpGrant};

use crate::support::program::{command_output, latch_command, run_latch};

/// A folder with a `latch.toml`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn with(text: &str) -> Self {
        let folder = Self::empty();
        std::fs::write(folder.path().join("latch.toml"), text).unwrap();
        folder
    }
    fn path(&self) -> &Path {
        self.0.path()
    }
    fn load(&self) -> Result<Config, ConfigErrors> {
        Config::load(&options(self.path()))
    }
}

fn options(cwd: &Path) -> LoadOptions<'_> {
    LoadOptions { cwd, config: None, db: None, plan_folder: None, env: &|_| None }
}

/// Returns the problems of this `latch.toml`, each as `line:column code key: message`.
fn problems(text: &str) -> Vec<String> {
    let folder = Folder::with(text);
    let errors = folder.load().expect_err("the configuration is refused");
    let show = |problem: &latchwork::config::ConfigProblem| {
        let SettingSource::File { line, column, path } = &problem.origin else { panic!("{problem}: no place") };
        assert_eq!(path, &folder.path().join("latch.toml"));
        format!("{line}:{column} {} {}: {}", problem.code, problem.key, problem.message)
    };
    errors.0.iter().map(show).collect()
}

#[test]
fn missing_file_gives_the_default_configuration() {
    let folder = Folder::empty();
    let config = folder.load().unwrap();
    assert_eq!(config.root, folder.path());
    assert_eq!(config.file, None);
    assert_eq!(config.database, format!("sqlite://{}/latch.db", folder.path().display()));
    assert_eq!(config.state_dir, folder.path().join(".latch"));
    assert_eq!((config.lease_ms, config.heartbeat_ms, config.clock_margin_ms), (15_000, 5_000, 2_000));
    assert_eq!((config.commit, config.durability), (CommitMode::Atomic, Durability::Full));
    assert_eq!(config.max_attempts_without_progress, 5);
    assert_eq!(config.keep_undoable_ms, 30 * 86_400_000);
    assert_eq!(config.policy["default"].modes, [Mode::DryRun, Mode::DraftOnly, Mode::HumanGated]);
    assert!(config.plugins.is_empty());
}

#[test]
fn every_setting_is_read() {
    let digest = Hash::of(&[b"component"]);
    let folder = Folder::with(&format!(
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
    ));
    let config = folder.load().unwrap();
    let root = folder.path();
    assert_eq!(config.database, format!("sqlite://{}/data/latch.db", root.display()));
    assert_eq!(config.commit, CommitMode::Staged);
    assert_eq!(config.effect_store.as_deref(), Some("sqlite:///var/effects.db"));
    assert_eq!(config.durability, Durability::Relaxed);
    assert_eq!(config.on_indeterminate, OnIndeterminate::Fail);
    assert_eq!((config.lease_ms, config.heartbeat_ms, config.clock_margin_ms), (20_000, 4_000, 1_000));
    assert_eq!(config.max_attempts_without_progress, 7);
    assert_eq!(config.keep_undoable_ms, 60 * 86_400_000);
    assert_eq!(config.state_dir, root.join("state"));
    assert_eq!(config.file, Some(root.join("latch.toml")));

    let default = &config.policy["default"];
    assert_eq!(default.modes, [Mode::DryRun, Mode::HumanGated]);
    assert_eq!(default.gate_effects, [EffectKind::ExternalWrite, EffectKind::ExternalSend]);
    assert!(!default.standing_approvals);
    let acme = &config.policy["acme"];
    assert_eq!(acme.modes, default.modes, "omitted keys of a tenant have the values of the default policy");
    assert!(!acme.standing_approvals, "omitted keys of a tenant have the values of the default policy");
    assert_eq!(acme.gate_effects, [EffectKind::InternalWrite]);
    assert_eq!(acme.gate_tags, ["law", "money"]);

    let [mail] = config.plugins.as_slice() else { panic!("one plugin") };
    assert_eq!(mail.name, "mail");
    assert_eq!(mail.source, root.join("plugins/mail.wasm"));
    assert_eq!(mail.digest, Some(digest));
    assert_eq!(mail.on_indeterminate, Some(OnIndeterminate::Park));
    let http = |scheme: &str, host: &str, port| HttpGrant { scheme: scheme.into(), host: host.into(), port };
    assert_eq!(mail.grants.http, [http("https", "api.example.com", 443), http("http", "127.0.0.1", 8080)]);
    assert_eq!(mail.grants.tcp, [TcpGrant { host: "smtp.example.com".into(), port: 587 }]);
    let dir = |host: PathBuf, guest: &str, write| DirGrant { host, guest: guest.into(), write };
    let dirs = [dir(root.join("outbox"), "/outbox", true), dir("/etc/mail".into(), "/conf", false)];
    assert_eq!(mail.grants.dirs, dirs);
    assert_eq!(mail.grants.secrets, ["MAIL_TOKEN"]);
    assert!(mail.grants.secrets_clear);
    assert_eq!(mail.grants.kv.as_deref(), Some("mail"));
    assert_eq!(mail.limits.memory_bytes, Some(128 << 20));
    assert_eq!(mail.limits.fuel, Some(5_000_000_000));
    assert_eq!(mail.limits.timeout_ms, Some(90_000));
    assert_eq!(mail.limits.output_bytes, Some(2 << 20));
    assert_eq!(mail.limits.host_calls, Some(50));
    let read = serde_json::to_value(&mail.config).unwrap();
    let said =
        json!({"from": "me@example.org", "retries": 3, "ratio": 0.5, "on": true, "nested": {"list": [1, "two"]}});
    assert_eq!(read, said);
}

#[test]
fn every_problem_is_listed_with_its_position() {
    let found = problems(
        r#"databse = "sqlite://latch.db"
commit = "atomik"
lease = 15
max_attempts_without_progress = 0

[validators]
run = ["statik"]

[policy.default]
modes = ["DRY_RUN", "AUTO_EXEC", "SOMETIMES"]
gate = { effects = ["external_sent"], quorum = 0 }

[[plugin]]
name = "mail"
source = "oci://registry/mail:1"
digest = "sha256:abc"
grants = { htttp = [], http = ["api.example.com", "https://ok.example", "https://*.example"] }

[[plugin]]
name = "mail"
limits = { memory = "64 potatoes", timeout = "0s", fuel = -1 }
config = { big = 9007199254740993, bad = nan }
"#,
    );
    let expected = [
        "1:1 L0003 databse: unknown key (did you mean `database`?)",
        "2:10 L0006 commit: `atomik` is not one of `atomic`, `staged` (did you mean `atomic`?)",
        "3:9 L0005 lease: expected a string, found an integer",
        "4:33 L0006 max_attempts_without_progress: 0 is not between 1 and 1000",
        "7:8 L0006 validators.run[0]: `statik` is not one of",
        "10:34 L0006 policy.default.modes[2]: `SOMETIMES` is not one of",
        "11:21 L0006 policy.default.gate.effects[0]: `external_sent` is not one of",
        "11:48 L0006 policy.default.gate.quorum: 0 is not between 1 and 100",
        "15:10 L0004 plugin[0].source: plugins from a registry",
        "16:10 L0006 plugin[0].digest: `sha256:abc` is not a digest",
        "17:12 L0003 plugin[0].grants.htttp: unknown key (did you mean `http`?)",
        "17:32 L0006 plugin[0].grants.http[0]: `api.example.com` has no scheme",
        "17:73 L0006 plugin[0].grants.http[2]: `https://*.example` has a wildcard",
        "19:1 L0007 plugin[1]: `source` is missing",
        "20:8 L0008 plugin[1].name: duplicate plugin name `mail`",
        "21:21 L0006 plugin[1].limits.memory: `64 potatoes` is not a size",
        "21:46 L0006 plugin[1].limits.timeout: `0s` is zero",
        "21:59 L0006 plugin[1].limits.fuel: -1 is not between",
        "22:18 L0006 plugin[1].config.big: 9007199254740993 is beyond 2^53",
        "22:42 L0006 plugin[1].config.bad: nan is not a JSON number",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "\n   found {found}\nexpected {expected}");
    }
}

/// I42: the trust and the requirements of a policy are read, and invalid values are reported.
#[test]
fn policy_trust_and_requirements_are_read_and_checked() {
    let text = r#"[policy.default]
version = 3
modes = ["AUTO_EXEC", "DRY_RUN"]
auto_exec = true
auto_exec_min_trust = 2
trust = { "ada/Mail.Send" = 3, "eve lin/Web.Post" = 0 }
require = { "Web.Fetch" = ["verified", "citations"] }
[policy.strict]
auto_exec = false
[policy.named]
gate = { effects = ["external_send"] }
"#;
    let config = Folder::with(text).load().unwrap();
    let policy = &config.policy["default"];
    assert_eq!((policy.version, policy.modes.len()), (Some(3), 2));
    let auto = &policy.auto_exec;
    assert_eq!((auto.enabled, auto.min_trust, auto.trust["ada/Mail.Send"], auto.trust.len()), (true, 2, 3, 2));
    assert_eq!(policy.require.values().next().map(Vec::len), Some(2));
    assert!(policy.gate_effects.is_empty(), "the built-in gates would leave nothing for trust to lift");
    assert_eq!(config.policy["named"].gate_effects, [EffectKind::ExternalSend], "gates that are named stay");
    assert!(!config.policy["strict"].auto_exec.enabled);
    assert_eq!(config.policy["strict"].gate_effects, Folder::empty().load().unwrap().policy["default"].gate_effects);
    let hash = |text: &str| Folder::with(text).load().unwrap().policy["default"].hash;
    assert_ne!(hash("[policy.default]\nrequire = { \"Web.Fetch\" = [\"verified\"] }"), hash(""));
    assert_eq!(hash("[policy.default]\nversion = 7"), hash(""), "the version does not change the hash");

    let found = problems(
        r#"[policy.default]
auto_exec = "yes"
auto_exec_min_trust = 4
trust = { "Mail.Send" = 3, "ada/Mail.Send" = 9, "ada/send" = 1 }
require = { "Web.Fetch" = ["sources"], "fetch" = [] }
requires = {}
"#,
    );
    let expected = [
        "2:13 L0005 policy.default.auto_exec",
        "3:23 L0006 policy.default.auto_exec_min_trust: 4 is not between 0 and 3",
        "4:25 L0006 policy.default.trust.\"Mail.Send\": `Mail.Send` does not name an actor and an operator",
        "4:46 L0006 policy.default.trust.\"ada/Mail.Send\": 9 is not between",
        "4:62 L0006 policy.default.trust.\"ada/send\": `ada/send` does not name an actor and an operator",
        "5:28 L0006 policy.default.require.\"Web.Fetch\"[0]: `sources` is not one of",
        "5:50 L0006 policy.default.require.fetch: `fetch` is not an operator name",
        "6:1 L0003 policy.default.requires: unknown key (did you mean `require`?)",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "\n   found {found}\nexpected {expected}");
    }
}

/// I42: a policy under which no job could be accepted is refused, and so is an invalid tenant name.
#[test]
fn empty_modes_and_invalid_tenant_names_are_refused() {
    let found = problems("[policy.default]\nmodes = []\n[policy.\"\"]\n[policy.\"a\\nb\"]\n");
    let expected = [
        "2:9 L0006 policy.default.modes: `modes` is empty, so no job could be accepted: name at least one of `DRY_RUN`",
        "3:1 L0006 policy.\"\": invalid tenant name: use 1 to 256 bytes",
        "4:1 L0006 policy.\"a\\nb\": invalid tenant name: use 1 to 256 bytes",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "\n   found {found}\nexpected {expected}");
    }
}

#[test]
fn columns_count_characters_not_bytes() {
    let found = problems("policy = { \"größe\" = { mode = [] } }");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("1:24 L0003 policy.\"größe\".mode: unknown key (did you mean `modes`?)"), "{found:?}");
}

#[test]
fn syntax_errors_suppress_later_checks() {
    let found = problems("lease = \"15s\nheartbeat = 5s\nunknown = 1\n");
    assert!(found.len() >= 2, "{found:?}");
    assert!(found.iter().all(|problem| problem.contains(" L0002 ")), "{found:?}");
    assert!(found[0].starts_with("1:"), "{found:?}");
}

#[test]
fn incompatible_settings_are_refused() {
    let found = problems("effect_store = \"sqlite://effects.db\"\nlease = \"10s\"\nheartbeat = \"6s\"\n");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("commit = \"staged\""), "{found:?}");
    assert!(found[1].starts_with("3:13 L0006 heartbeat: "), "{found:?}");
    let short = Folder::with("lease = \"6s\"").load().unwrap();
    assert_eq!(short.heartbeat_ms, 2_000, "three heartbeats to a lease");
}

#[test]
fn misplaced_secret_is_not_repeated_in_the_error() {
    let found = problems(
        "[[plugin]]\nname = \"a\"\nsource = \"a\"\ngrants = { secrets = [\"sk-very-secret\"] }\nsecrets = { TOKEN = \"hunter2\" }\n",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(!found.concat().contains("sk-very-secret") && !found.concat().contains("hunter2"), "{found:?}");
}

#[test]
fn only_synchronous_failover_trusts_a_standby() {
    let failover = |text: &str| Folder::with(text).load().unwrap().failover;
    assert_eq!(failover(""), Failover::Accepted);
    assert_eq!(failover("failover = \"synchronous\""), Failover::Synchronous);
    let found = problems("failover = \"sync\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("synchronous"), "{found:?}");
}

#[test]
fn password_in_the_file_is_refused() {
    let found = problems("database = \"postgres://latch:hunter2@db.example.com/latch\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(" L0009 ") && found[0].contains("LATCH_DATABASE"), "{found:?}");
    assert!(!found[0].contains("hunter2"), "{found:?}");
    let url = "postgres://latch@db.example.com/latch?sslmode=verify-full";
    assert_eq!(Folder::with(&format!("database = {url:?}")).load().unwrap().database, url);
}

#[test]
fn plugin_wasi_mode_is_read() {
    let wasi = |line: &str| {
        let text = format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\n{line}");
        Folder::with(&text).load().unwrap().plugins[0].wasi
    };
    assert_eq!(wasi(""), WasiMode::None);
    assert_eq!((wasi("wasi = \"none\""), wasi("wasi = \"virtual\"")), (WasiMode::None, WasiMode::Virtual));
    let found = problems("[[plugin]]\nname = \"a\"\nsource = \"a\"\nwasi = \"virtul\"");
    assert!(found.len() == 1 && found[0].starts_with("4:8 ") && found[0].contains("virtual"), "{found:?}");
}

#[test]
fn plugin_retry_settings_are_read_and_checked() {
    let plugin = |retry: &str| format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\nretry = {{ {retry} }}");
    let config = Folder::with(&plugin("max = 7, base = \"50ms\", cap = \"2s\"")).load().unwrap();
    let retry = config.plugins[0].retry.clone().unwrap();
    assert_eq!((retry.max, retry.base_ms, retry.cap_ms), (Some(7), Some(50), Some(2_000)));
    for wrong in ["max = 101", "max = -1", "base = \"2d\"", "cap = 5"] {
        let found = problems(&plugin(wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
    }
    assert!(problems(&plugin("attempts = 5"))[0].contains("L0003"));
}

#[test]
fn configuration_file_is_searched_in_documented_order() {
    let (cwd, plan, named) = (Folder::with("lease = \"21s\""), Folder::with("lease = \"22s\""), Folder::empty());
    let deep = plan.path().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let file = named.path().join("other.toml");
    std::fs::write(&file, "lease = \"23s\"").unwrap();
    let flag = named.path().join("flag.toml");
    std::fs::write(&flag, "lease = \"24s\"").unwrap();
    let lease = |options: &LoadOptions<'_>| Config::load(options).unwrap().lease_ms;

    let nowhere = Folder::empty();
    assert_eq!(lease(&options(nowhere.path())), 15_000);
    assert_eq!(lease(&LoadOptions { plan_folder: Some(&deep), ..options(nowhere.path()) }), 22_000);
    let near = LoadOptions { plan_folder: Some(&deep), ..options(cwd.path()) };
    assert_eq!(lease(&near), 21_000, "the working directory comes before the plan's");
    let below = cwd.path().join("c/d");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(lease(&options(&below)), 21_000, "the nearest file above the working directory");
    let near_from_below = LoadOptions { plan_folder: Some(&deep), ..options(&below) };
    assert_eq!(lease(&near_from_below), 22_000, "the plan's comes before one above the working directory");
    let variable = |name: &str| (name == "LATCH_CONFIG").then(|| file.display().to_string());
    let from_variable = LoadOptions { env: &variable, ..near };
    assert_eq!(lease(&from_variable), 23_000);
    assert_eq!(lease(&LoadOptions { config: Some(&flag), ..from_variable }), 24_000);

    let missing = Path::new("missing.toml");
    let errors = Config::load(&LoadOptions { config: Some(missing), ..options(cwd.path()) }).unwrap_err();
    assert_eq!(errors.0[0].code, "L0001");
    assert_eq!(errors.0[0].origin, SettingSource::WholeFile(cwd.path().join("missing.toml")));
}

#[test]
fn flag_wins_over_variable_and_variable_over_file() {
    let folder = Folder::with("database = \"sqlite:///file.db\"");
    let variable = |name: &str| (name == "LATCH_DATABASE").then(|| "sqlite:///variable.db".to_owned());
    let database = |options: &LoadOptions<'_>| Config::load(options).unwrap().database;
    assert_eq!(database(&options(folder.path())), "sqlite:///file.db");
    let with_variable = LoadOptions { env: &variable, ..options(folder.path()) };
    assert_eq!(database(&with_variable), "sqlite:///variable.db");
    let with_flag = LoadOptions { db: Some("sqlite://flag.db"), ..with_variable };
    assert_eq!(database(&with_flag), format!("sqlite://{}/flag.db", folder.path().display()));

    let postgres = LoadOptions { db: Some("postgres://a:b@localhost/latch"), ..options(folder.path()) };
    assert_eq!(database(&postgres), "postgres://a:b@localhost/latch");
    let nameless = LoadOptions { db: Some("postgres://localhost"), ..options(folder.path()) };
    let errors = Config::load(&nameless).unwrap_err();
    assert_eq!(errors.0[0].origin, SettingSource::Flag("--db"));
    assert!(errors.0[0].message.contains("the URL has no database"), "{errors}");
}

#[test]
fn policy_hash_depends_only_on_its_meaning() {
    let hash = |text: &str| Folder::with(text).load().unwrap().policy["default"].hash;
    let plain = hash("");
    assert_eq!(plain, hash("[policy.default]\nmodes = [\"HUMAN_GATED\", \"DRY_RUN\", \"DRAFT_ONLY\", \"DRY_RUN\"]"));
    assert_ne!(plain, hash("[policy.default]\nmodes = [\"DRY_RUN\"]"));
    assert_ne!(plain, hash("[policy.default]\ngate = { tags = [\"money\"] }"));
    assert_ne!(plain, hash("[policy.default]\ngate = { effects = [] }"));
    for gate in ["expires = \"1h\"", "quorum = 2", "self_approve = false", "reason = true"] {
        assert_ne!(plain, hash(&format!("[policy.default]\ngate = {{ {gate} }}")), "{gate}");
    }
    let said = "gate = { expires = \"72h\", quorum = 1, self_approve = true, reason = false }";
    assert_eq!(plain, hash(&format!("[policy.default]\n{said}")), "explicit default values do not change the hash");
    assert_ne!(plain, hash("[policy.default]\nstanding_approvals = false"));
}

#[test]
fn confirmation_settings_are_read_and_checked() {
    use latchwork_core::model::manifest::Confirmation;
    let plugin = |lines: &str| {
        let grants = "grants = { http = [\"https://a.example\"], dirs = [{ host = \"d\", guest = \"/d\" }], secrets = [\"TOKEN\"] }";
        format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\n{grants}\n{lines}")
    };
    let top = "confirmation = \"warn\"\n";
    let verifier = "verifier = { name = \"etag\", headers = { Authorization = \"Bearer ${TOKEN}\" } }";
    let config = Folder::with(&format!("{top}{}\nconfirmation = \"human_in_loop\"", plugin(verifier))).load().unwrap();
    assert_eq!(config.confirmation, Confirmation::Warn);
    assert_eq!(config.plugins[0].confirmation, Some(Confirmation::HumanInLoop));
    let read = config.plugins[0].verifier.as_ref().unwrap();
    assert_eq!((read.name.as_str(), read.headers.len()), ("etag", 1));
    let plain = Folder::with(&plugin("verifier = \"file-digest\"")).load().unwrap();
    assert_eq!(plain.plugins[0].verifier.as_ref().unwrap().name, "file-digest");
    assert_eq!(plain.confirmation, Confirmation::Strict);
    for (lines, place, says) in [
        ("verifier = \"etg\"", "5:12 L0006 plugin[0].verifier: ", "did you mean `etag`?"),
        ("confirmation = \"strct\"", "5:16 L0006 plugin[0].confirmation: ", "did you mean `strict`?"),
        ("verifier = { name = \"file-digest\", headers = { A = \"b\" } }", "5:46 L0006", "sends no requests"),
        (
            "verifier = { name = \"etag\", headers = { A = \"${OTHER}\" } }",
            "5:45 L0006",
            "not granted the secret OTHER",
        ),
        ("verifier = { name = \"etag\", headers = { Host = \"b\" } }", "5:48 L0006", "set by the host"),
        ("verifier = { nam = \"etag\" }", "5:12 L0007", "`name` is missing"),
    ] {
        let found = problems(&plugin(lines));
        assert!(found[0].starts_with(place) && found[0].contains(says), "{lines}: {found:?}");
    }
    let bare = "[[plugin]]\nname = \"a\"\nsource = \"a\"\n";
    for (name, needs) in [("etag", "grants.http"), ("file-digest", "grants.dirs")] {
        let found = problems(&format!("{bare}verifier = \"{name}\""));
        assert!(found.len() == 1 && found[0].contains(needs), "a verifier without the grant that it needs: {found:?}");
    }
}

#[test]
fn webhook_is_read_and_its_address_is_not_repeated() {
    let config = Folder::with("[notify]\nwebhook = \"https://h.example/s3cret\"\ntimeout = \"3s\"").load().unwrap();
    let notify = config.notify.as_ref().unwrap();
    assert_eq!((notify.webhook.path(), notify.origin.port, notify.timeout_ms), ("/s3cret", 443, 3_000));
    assert!(!format!("{config:?}").contains("s3cret"));
    for good in ["http://127.0.0.1:9/x", "http://[::1]/x", "http://localhost/x"] {
        assert!(Folder::with(&format!("[notify]\nwebhook = {good:?}")).load().is_ok(), "{good}");
    }
    let told = "[notify]\nwebhook = \"http://h.example/x\"\nallow_http = true";
    assert!(Folder::with(told).load().is_ok());
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
    assert_eq!(config.validators, [BuiltinValidator::Static, BuiltinValidator::Sandbox]);
    assert!(Folder::empty().load().unwrap().validators.is_empty(), "none by default");
    let found = problems("[validators]\nrun = [\"sandbx\"]\nrum = 1");
    assert!(found[0].starts_with("2:8 L0006 validators.run[0]: ") && found[0].contains("`sandbox`"), "{found:?}");
    assert!(found[1].contains("did you mean `run`?"), "{found:?}");
}

/// If the database is on a server, an effect store in a file is refused, because workers on other machines
/// cannot read the file. Every command is refused. The refusal does not depend on the way in which the server
/// is named: `LATCH_DATABASE` or `--db`.
#[test]
fn effect_store_file_beside_a_server_is_refused() {
    let folder = Folder::with("commit = \"staged\"\neffect_store = \"sqlite://effects.db\"\n");
    let server = "postgres://latch@localhost:1/latch";
    let on_server = |args: &[&str]| {
        command_output(latch_command(folder.path(), args).env("LATCH_DATABASE", server).output().expect("latch runs"))
    };
    for ran in
        [on_server(&["job", "list", "--json"]), run_latch(folder.path(), &["job", "list", "--json", "--db", server])]
    {
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (2, &json!("L0009")), "{} {}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("Remove `effect_store`"), "{}", ran.stdout);
    }
    let doctor = on_server(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["check"] == "effect store").expect("the effect store is checked");
    assert_eq!((&check["verdict"], &check["fix"]), (&json!("fail"), &json!("latch explain L0009")), "{doctor:#}");
    assert!(!folder.path().join("effects.db").exists(), "no file was created");
    // With a database file, the effect store may be a file. With a database on a server, the effect store
    // must be on a server, too.
    assert_eq!(run_latch(folder.path(), &["job", "list", "--json"]).code, 0);
    let both = Folder::with(&format!("commit = \"staged\"\neffect_store = {server:?}\ndatabase = {server:?}\n"));
    let away = run_latch(both.path(), &["job", "list", "--json"]);
    assert_eq!(away.json()["error"]["code"], "L0032", "{}", away.stdout);
}
