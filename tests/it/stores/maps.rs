//! Key-value maps of tools in jobs of several tenants, and in databases from before tenants had maps of their own.

use serde_json::{Value, json};

use crate::support::database::alter_database;
use crate::support::plugins::built_guests::guest;
use crate::support::test_env::TestEnv;

/// Replaces the tables of maps by the table of an earlier version, in which tenants had no maps of their own. The new
/// table has no keys.
const OLD_SCHEMA: &str = "DROP TABLE kv_entries; DROP TABLE kv_maps; CREATE TABLE kv (namespace TEXT NOT NULL, key TEXT NOT \
    NULL, value BLOB NOT NULL, PRIMARY KEY (namespace, key)) STRICT, WITHOUT ROWID; DELETE FROM _sqlx_migrations WHERE \
    version = 9";
const OLD_KEYS: &str = "INSERT INTO kv VALUES ('m', 'k', CAST('old' AS BLOB)), ('m', 'ä', CAST('v' AS BLOB)), ('other', 'k', \
    CAST('x' AS BLOB))";

/// Environment with the scripted tool and this grant of its map.
fn env(kv: &str) -> TestEnv {
    let config = format!(
        "[[plugin]]\nname = \"world\"\nsource = {:?}\ngrants = {{ http = [\"http://127.0.0.1:9\"], \
         tcp = [\"127.0.0.1:9\"], kv = {kv} }}\n",
        guest("hostile-tool"),
    );
    let mut place = TestEnv::configured(&config, vec![]).compile_plugins();
    place.skip_replay_of_many_jobs();
    place
}

/// Runs a job of the tenant with these actions. Returns their answers.
fn run_actions(place: &TestEnv, tenant: &str, actions: Value) -> Vec<Value> {
    let step = json!({
        "step_id": "s", "kind": "operator", "name": "World.Keep", "payload": { "do": actions },
        "effects": ["internal_write"], "gate": "none",
    });
    let plan = json!({ "plan_id": "maps", "schema_version": "1.0", "steps": [step] });
    std::fs::write(place.dir.join("plan.json"), plan.to_string()).unwrap();
    let ran = place.latch(&["run", "plan.json", "--new", "--json", "--tenant", tenant]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran.json()["outputs"]["s"].as_array().unwrap_or_else(|| panic!("{}", ran.stdout)).clone()
}

fn set(value: &str) -> Value {
    json!([{ "kv-set": { "key": "k", "value": value } }])
}

fn get() -> Value {
    json!([{ "kv-get": { "key": "k" } }])
}

/// Warnings of `latch doctor` about maps.
fn map_warnings(place: &TestEnv) -> Vec<Value> {
    let checks = place.latch(&["doctor", "--json"]).json()["checks"].as_array().unwrap().clone();
    checks.into_iter().filter(|check| check["check"] == "maps").collect()
}

/// I232, I233.
#[test]
fn jobs_of_two_tenants_see_their_own_values_and_quotas() {
    let place = env("{ name = \"m\", bytes = \"1KiB\" }");
    run_actions(&place, "acme", set("of acme"));
    assert_eq!(run_actions(&place, "umbrella", get()), [json!(null)]);
    run_actions(&place, "umbrella", set("of umbrella"));
    assert_eq!(run_actions(&place, "acme", get()), [json!("of acme")]);
    let filled = run_actions(&place, "acme", json!([{ "kv-fill": { "bytes": 100, "count": 99 } }]));
    assert_eq!(filled[0]["made"], 5, "{filled:?}");
    assert_eq!(run_actions(&place, "umbrella", set("more of umbrella")), [json!(true)]);

    let place = place.edit_config(|text| text.replace("bytes = \"1KiB\"", "shared = true"));
    assert_eq!(run_actions(&place, "acme", get()), [json!(null)], "the map of all tenants is another one");
    run_actions(&place, "acme", set("of all"));
    assert_eq!(run_actions(&place, "umbrella", get()), [json!("of all")]);
    assert_eq!(map_warnings(&place), [] as [Value; 0]);
}

/// I235.
#[test]
fn old_keys_of_one_tenant_become_the_map_of_this_tenant() {
    let place = env("\"m\"");
    run_actions(&place, "acme", get());
    run_actions(&place, "acme", get());
    let database = place.dir.join("latch.db");
    alter_database(&database, OLD_SCHEMA);
    alter_database(&database, OLD_KEYS);
    assert_eq!(run_actions(&place, "acme", get()), [json!("old")]);
    assert_eq!(run_actions(&place, "umbrella", get()), [json!(null)]);
    assert_eq!(map_warnings(&place), [] as [Value; 0]);
    // Old keys count towards the quota. Each key counts 64 bytes, the bytes of its name and the bytes of its value.
    let place = place.edit_config(|text| text.replace("kv = \"m\"", "kv = { name = \"m\", bytes = \"200B\" }"));
    let more = |value: &str| json!([{ "kv-set": { "key": "", "value": value } }]);
    let refused = run_actions(&place, "acme", more("xx"))[0]["error"].to_string();
    assert!(refused.contains("from 135 to 201 bytes"), "{refused}");
    assert_eq!(run_actions(&place, "acme", more("x")), [json!(true)]);
}

/// I235.
#[test]
fn old_keys_of_several_tenants_need_a_shared_grant() {
    let place = env("\"m\"");
    for tenant in ["acme", "umbrella"] {
        run_actions(&place, tenant, get());
    }
    let database = place.dir.join("latch.db");
    alter_database(&database, OLD_SCHEMA);
    alter_database(&database, OLD_KEYS);
    for tenant in ["acme", "umbrella", "third"] {
        assert_eq!(run_actions(&place, tenant, get()), [json!(null)]);
    }
    let warnings = map_warnings(&place);
    let of = |at: usize, key: &str| warnings[at][key].as_str().unwrap_or_default().to_owned();
    assert_eq!((warnings.len(), of(0, "map"), of(1, "map")), (2, "m".into(), "other".into()), "{warnings:#?}");
    assert_eq!((of(0, "verdict"), of(0, "plugin"), of(1, "plugin")), ("warn".into(), "world".into(), String::new()));
    assert!(of(0, "found").contains("has 135 bytes"), "{warnings:#?}");
    let line = |at: usize| of(at, "fix").split_once("grants = ").expect("a line of latch.toml").1.to_owned();
    assert_eq!(line(1), "{ kv = { name = \"other\", shared = true } }");

    // The line that the report suggests as a fix opens the map.
    let place = place.edit_config(|text| format!("{}grants = {}\n", text.split_once("grants = ").unwrap().0, line(0)));
    for tenant in ["acme", "umbrella"] {
        assert_eq!(run_actions(&place, tenant, get()), [json!("old")]);
    }
    assert_eq!(map_warnings(&place).len(), 1);
}
