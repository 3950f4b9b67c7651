//! `latch doctor`: each finding names plugin, job, slot and event, and the remedy.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::database::{alter_database, blocking_database};
use crate::support::plugins::built_guests::guest;
use crate::support::program::{command_output, latch_command, run_latch};
use crate::support::test_env;
use crate::support::test_env::{TestEnv, step, wait};

fn doctor_checks(place: &TestEnv, args: &[&str]) -> (i32, Vec<Value>) {
    let ran = place.latch(&[&["doctor", "--json"], args].concat());
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    (ran.code, checks)
}

fn checks_named<'c>(checks: &'c [Value], name: &str) -> Vec<&'c Value> {
    checks.iter().filter(|check| check["check"] == name).collect()
}

/// Returns a project with a finished job whose step has an output. Also returns the job's id.
fn project_with_finished_job() -> (TestEnv, String) {
    let guest = guest("check-step");
    let config = format!("[[plugin]]\nname = \"check\"\nsource = {guest:?}\n");
    let mut step = test_env::step("s", "Good.Pure", &[], json!({ "n": 7 }));
    step["effects"] = json!(["read_only"]);
    let mut place = TestEnv::configured(&config, vec![]).with_plan(&[step]);
    place.skip_replay_of_damaged_jobs();
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().unwrap_or_else(|| panic!("{} {}", ran.stdout, ran.stderr)).to_owned();
    (place, id)
}

/// I169: a flipped byte of a payload is reported with the job, slot and event, and with a remedy.
#[test]
fn deep_check_locates_a_flipped_byte() {
    let (place, id) = project_with_finished_job();
    let (code, sound) = doctor_checks(&place, &["--deep"]);
    assert_eq!((code, &checks_named(&sound, "jobs")[0]["verdict"]), (0, &json!("ok")), "{sound:#?}");
    for (change, label, slot) in [
        (
            "UPDATE payloads SET bytes = CAST(replace(CAST(bytes AS TEXT), '7', '8') AS BLOB) WHERE label = 'input/s'",
            "input/s",
            "s",
        ),
        (
            "UPDATE payloads SET bytes = CAST(CAST(bytes AS TEXT) || ' ' AS BLOB) WHERE label = 'output/s'",
            "output/s",
            "s",
        ),
        ("DELETE FROM payloads WHERE label = 'output/s'", "output/s", "s"),
    ] {
        let mut damaged = place.fresh_copy();
        damaged.skip_replay_of_damaged_jobs();
        alter_database(&damaged.dir.join("latch.db"), change);
        let (_, shallow) = doctor_checks(&damaged, &[]);
        assert_eq!(checks_named(&shallow, "database")[0]["verdict"], "ok", "SQLite itself sees nothing: {change}");
        let (code, deep) = doctor_checks(&damaged, &["--deep"]);
        let found = checks_named(&deep, "jobs");
        assert_eq!((code, found.len()), (1, 1), "{change}: {deep:#?}");
        assert_eq!((&found[0]["job"], &found[0]["slot"]), (&json!(id), &json!(slot)), "{change}");
        assert!(found[0]["event"].as_u64().is_some_and(|seq| seq > 0), "{change}: {found:#?}");
        assert!(found[0]["found"].as_str().unwrap().contains(label), "{change}: {found:#?}");
        assert!(found[0]["fix"].as_str().unwrap().contains("backup"), "{change}: {found:#?}");
    }
    // A damaged job does not prevent the check of other jobs.
    let second = place.latch(&["run", "plan.json", "--new", "--json"]).json()["job_id"].clone();
    alter_database(
        &place.dir.join("latch.db"),
        "UPDATE events SET bytes = replace(bytes, 'check', 'chack') WHERE id = (SELECT MIN(id) FROM events)",
    );
    let (code, deep) = doctor_checks(&place, &["--deep"]);
    let found = checks_named(&deep, "jobs");
    assert_eq!(code, 1, "{deep:#?}");
    assert!(found.iter().any(|it| it["job"] == json!(id)) && found.iter().all(|it| it["job"] != second), "{found:#?}");
}

/// I169: damage in the ledger and in the tables that all jobs share is reported.
#[test]
fn deep_check_finds_damaged_reservations_and_indexes() {
    let mut keyed = step("k", "Effect.Keyed", &[], json!({ "note": 1 }));
    keyed["idempotency_template"] = json!("k:{note}");
    let mut read = step("r", "Effect.Read", &[], json!({ "note": 2 }));
    read["effects"] = json!(["read_only"]);
    read["cache_policy"] = json!({ "ttl_seconds": 3600 });
    read["idempotency_template"] = json!("r:{note}");
    let mut place = TestEnv::witness("atomic").with_plan(&[keyed, read]);
    place.skip_replay_of_damaged_jobs();
    let ran = place.latch(&["run", "plan.json", "--approve", "k", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let (code, sound) = doctor_checks(&place, &["--deep"]);
    assert_eq!((code, &checks_named(&sound, "jobs")[0]["verdict"]), (0, &json!("ok")), "{sound:#?}");
    for (change, slot, says) in [
        ("UPDATE actions SET receipt = CAST('{\"result\":\"7\"}' AS BLOB)", "k", "receipt"),
        ("UPDATE actions SET args_hash = zeroblob(32)", "k", "arguments hash"),
        ("UPDATE actions SET key = zeroblob(32)", "k", "not reserved"),
        ("UPDATE actions SET slot = 'x'", "k", "reserved for"),
        ("UPDATE ledger SET action_key = zeroblob(32) WHERE slot = 'k'", "k", "action key of the ledger row"),
        ("UPDATE ledger SET state = 3 WHERE slot = 'k'", "k", "state of the ledger row"),
        ("UPDATE reusables SET output_hash = zeroblob(32)", "r", "output hash in the index"),
        ("UPDATE reusables SET digest = zeroblob(32)", "r", "component digest in the index"),
    ] {
        let mut damaged = place.fresh_copy();
        damaged.skip_replay_of_damaged_jobs();
        alter_database(&damaged.dir.join("latch.db"), change);
        let (code, deep) = doctor_checks(&damaged, &["--deep"]);
        let found = checks_named(&deep, "jobs");
        let is_it = |it: &&&Value| it["slot"] == slot && it["found"].as_str().unwrap().contains(says);
        assert!(code == 1 && found.iter().filter(is_it).count() == 1, "{change}: {deep:#?}");
    }
}

/// I169: a flipped byte is found in a PostgreSQL database.
#[test]
fn deep_check_finds_a_flipped_byte_on_postgres() {
    let Some(url) = blocking_database() else { return };
    let payload = json!({ "wait_kind": "timer", "duration": "1ms" });
    let mut place = TestEnv::configured("", vec![]).with_plan(&[wait("w", payload)]).with_database(&url);
    place.skip_replay_of_damaged_jobs();
    let done = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    let id = done.json()["job_id"].clone();
    let (code, sound) = doctor_checks(&place, &["--deep"]);
    assert_eq!((code, &checks_named(&sound, "jobs")[0]["verdict"]), (0, &json!("ok")), "{sound:#?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use sqlx::{ConnectOptions, Connection};
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let mut conn = options.connect().await.unwrap();
        let flip = "UPDATE payloads SET bytes = set_byte(bytes, 0, get_byte(bytes, 0) # 1)";
        assert!(sqlx::raw_sql(flip).execute(&mut conn).await.unwrap().rows_affected() > 0);
        conn.close().await.unwrap();
    });
    let (code, deep) = doctor_checks(&place, &["--deep"]);
    let found = checks_named(&deep, "jobs");
    assert_eq!((code, &found[0]["job"], &found[0]["verdict"]), (1, &id, &json!("fail")), "{deep:#?}");
}

/// I169: damaged stored components and compiled code are reported by digest and error code.
#[test]
fn deep_check_finds_damaged_components_and_compiled_code() {
    let (place, _) = project_with_finished_job();
    let flip = |path: &std::path::Path| {
        let mut bytes = std::fs::read(path).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    let only = |dir: &std::path::Path, ending: &str| {
        let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|it| it == ending)).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("compiled");
    let doctor = |args: &[&str]| {
        let args = [&["doctor", "--deep", "--json"], args].concat();
        let ran = command_output(latch_command(&place.dir, &args).env("LATCH_CACHE_DIR", &cache).output().unwrap());
        let checks = ran.json()["checks"].as_array().unwrap().clone();
        (ran.code, checks)
    };
    let (code, sound) = doctor(&[]);
    assert_eq!(code, 0, "{sound:#?}");
    let compiled = only(&cache, "aot");
    flip(&compiled[0]);
    let component = &only(&place.dir.join(".latch/components"), "wasm")[0];
    flip(component);
    // Loading the plugin would repair the component and the compiled code. The check must not load the
    // plugin, so both files are reported as damaged.
    let (code, checks) = doctor(&[]);
    assert_eq!(code, 1, "{checks:#?}");
    let kept = checks_named(&checks, "components");
    let kept = kept.iter().find(|check| check["verdict"] == "fail").unwrap();
    assert_eq!(kept["plugin"], "check");
    let entry = checks_named(&checks, "plugin cache");
    let entry = entry.iter().find(|check| check["verdict"] == "warn").unwrap();
    assert!(entry["fix"].as_str().unwrap().contains(compiled[0].to_str().unwrap()), "{entry}");
}

/// I169: each problem of a plugin is a separate finding. The finding names the plugin and the remedy.
#[test]
fn each_plugin_problem_names_its_plugin() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.wasm"), "not a component").unwrap();
    std::fs::create_dir(folder.path().join("mail")).unwrap();
    let recipe = "[plugin]\nname = \"mail\"\nkind = \"tool\"\nlang = \"rust\"\n";
    std::fs::write(folder.path().join("mail/latch-plugin.toml"), recipe).unwrap();
    let config = "[[plugin]]\nname = \"gone\"\nsource = \"gone.wasm\"\n\
                  [[plugin]]\nname = \"text\"\nsource = \"text.wasm\"\n\
                  [[plugin]]\nname = \"mail\"\nsource = \"mail\"\n";
    std::fs::write(folder.path().join("latch.toml"), config).unwrap();
    let ran = run_latch(folder.path(), &["doctor", "--json"]);
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    assert_eq!(ran.code, 1, "{checks:#?}");
    let of = |plugin: &str| {
        let found: Vec<_> = checks.iter().filter(|check| check["plugin"] == plugin).collect();
        assert_eq!(found.len(), 1, "{plugin}: {checks:#?}");
        assert!(found[0]["found"].as_str().unwrap().starts_with(&format!("{plugin}: ")), "{found:#?}");
        found[0]["fix"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("mail"), "latch plugin build mail");
    assert!(of("gone").contains("L0020"));
    assert!(of("text").contains("L0023"));
    let toolchain = checks_named(&checks, "toolchain");
    let rust = toolchain.iter().find(|check| check["language"] == "rust").unwrap();
    assert_eq!(rust["plugins"], json!(["mail"]));
    assert!(rust["verdict"] == "ok" || rust["fix"].as_str().unwrap().contains("rustup target add"), "{rust}");
}

/// I169: a secret without a value is reported, and so is a secret file that other users can read.
#[test]
fn secret_without_value_or_readable_by_others_is_reported() {
    let place = TestEnv::configured(
        "[[plugin]]\nname = \"mail\"\nsource = \"mail.wasm\"\ngrants = { secrets = [\"TOKEN\"] }\n",
        vec![],
    );
    let (_, found) = doctor_checks(&place, &[]);
    let secrets = checks_named(&found, "secrets");
    assert_eq!((&secrets[0]["secret"], &secrets[0]["verdict"]), (&json!("TOKEN"), &json!("fail")), "{found:#?}");
    let message = secrets[0]["found"].as_str().unwrap();
    assert!(message.contains("plugin mail"), "{message}");
    assert!(secrets[0]["fix"].as_str().unwrap().contains("LATCH_SECRET_TOKEN"), "{secrets:#?}");

    let dir = place.dir.join(".latch/secrets");
    std::fs::create_dir_all(&dir).unwrap();
    let mode =
        |path: &std::path::Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&dir, 0o755);
    std::fs::write(dir.join("TOKEN"), "").unwrap();
    let (_, found) = doctor_checks(&place, &[]);
    let empty = checks_named(&found, "secrets")[0].clone();
    assert_eq!(empty["verdict"], "fail", "{found:#?}");
    assert!(empty["found"].as_str().unwrap().ends_with("is empty"), "{empty}");
    std::fs::write(dir.join("TOKEN"), "a value").unwrap();
    mode(&dir.join("TOKEN"), 0o644);
    let (_, found) = doctor_checks(&place, &[]);
    let secrets = checks_named(&found, "secrets");
    assert_eq!((secrets.len(), &secrets[0]["verdict"]), (1, &json!("warn")), "{found:#?}");
    assert!(secrets[0]["fix"].as_str().unwrap().starts_with("chmod 600 "), "{secrets:#?}");
    assert!(!found.iter().any(|check| check.to_string().contains("a value\"")), "no value is shown");
    mode(&dir.join("TOKEN"), 0o600);
    let (_, found) = doctor_checks(&place, &[]);
    assert_eq!(checks_named(&found, "secrets")[0]["verdict"], "ok", "{found:#?}");
}

/// If the effect store is a file, `latch doctor` reports it as the file name, a colon and the finding.
#[test]
fn effect_store_file_is_named_apart_from_its_finding() {
    let place = TestEnv::configured("commit = \"staged\"\neffect_store = \"sqlite://effects.db\"\n", vec![]);
    let payload = json!({ "wait_kind": "timer", "duration": "1ms" });
    let place = place.with_plan(&[wait("w", payload)]);
    assert_eq!(place.latch(&["run", "plan.json"]).code, 0);
    let (code, found) = doctor_checks(&place, &["--deep"]);
    let store = checks_named(&found, "effect store")[0]["found"].as_str().unwrap().to_owned();
    assert!(code == 0 && store.ends_with("effects.db: the file is sound"), "{store} {found:#?}");
}
