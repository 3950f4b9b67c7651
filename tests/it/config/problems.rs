//! Problems of the configuration file: each is listed with its position, and no secret is repeated.

use serde_json::json;

use latchwork_core::model::bounds;

use crate::config::{Folder, problems};
use crate::support::program::{command_output, latch_command, run_latch};

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

#[test]
fn columns_count_characters_not_bytes() {
    let found = problems("policy = { \"größe\" = { mode = [] } }");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("1:24 L0003 policy.\"größe\".mode: unknown key (did you mean `modes`?)"), "{found:?}");
}

/// I225: bounds `memory_bytes_max`, `output_bytes_max` and `component_bytes_max`.
#[test]
fn limits_of_a_plugin_have_a_largest_value() {
    let config = |key: &str, bytes: u64| {
        format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\nlimits = {{ {key} = \"{bytes}B\" }}\n")
    };
    let most = [
        ("memory", bounds::MEMORY_BYTES_MAX),
        ("output", bounds::OUTPUT_BYTES_MAX),
        ("component", bounds::COMPONENT_BYTES_MAX),
    ];
    for (key, bytes) in most {
        let limits = Folder::with(&config(key, bytes)).load().unwrap().plugins()[0].limits;
        let read = [limits.memory_bytes, limits.output_bytes.map(u64::from), limits.component_bytes];
        assert!(read.contains(&Some(bytes)), "{key} {limits:?}");
        let found = problems(&config(key, bytes + 1));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&format!(" L0006 plugin[0].limits.{key}: ")), "{found:?}");
    }
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
    assert_eq!(short.heartbeat_ms(), 2_000, "three heartbeats to a lease");
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
fn password_in_the_file_is_refused() {
    let found = problems("database = \"postgres://latch:hunter2@db.example.com/latch\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(" L0009 ") && found[0].contains("LATCH_DATABASE"), "{found:?}");
    assert!(!found[0].contains("hunter2"), "{found:?}");
    let url = "postgres://latch@db.example.com/latch?sslmode=verify-full";
    assert_eq!(Folder::with(&format!("database = {url:?}")).load().unwrap().database(), url);
}

/// If the database is on a server, an effect store in a file is refused, because workers on other machines cannot read
/// the file. Every command is refused, whether `LATCH_DATABASE` or `--db` names the server.
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
