//! Commands report a plugin, limit or grant that changed after a job was accepted.

use serde_json::{Value, json};

use crate::support::test_env::{TestEnv, step};

/// Runs a job with one tool call until it is completed. Returns the environment and the job's id.
fn completed_job() -> (TestEnv, String) {
    let place = TestEnv::witness("atomic").fresh_copy();
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]).with_approved(vec!["o"]);
    let done = place.latch(&place.run_args());
    assert_eq!((done.code, &done.json()["changed"]), (0, &Value::Null), "{} {}", done.stdout, done.stderr);
    let id = done.json()["job_id"].as_str().expect("an id").to_owned();
    (place, id)
}

/// Rewrites the table of the plugin `witness` in `latch.toml`.
fn rewrite_witness_table(place: &TestEnv, change: impl Fn(&str) -> String) {
    let file = place.dir.join("latch.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let tables: Vec<String> = config
        .split("[[plugin]]")
        .map(|table| if table.starts_with("\nname = \"witness\"") { change(table) } else { table.to_owned() })
        .collect();
    std::fs::write(file, tables.join("[[plugin]]")).unwrap();
}

/// Configures a component of `witness` with the same behaviour and different bytes.
fn configure_other_component(place: &TestEnv) {
    rewrite_witness_table(place, |table| {
        let source = table.split("source = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a source");
        let mut bytes = std::fs::read(source).unwrap();
        // Adds a custom section. It changes the digest but not the behaviour.
        bytes.extend([0, 5, 4, b'n', b'o', b't', b'e']);
        let other = place.dir.join("other.wasm");
        std::fs::write(&other, bytes).unwrap();
        table.replace(source, &other.display().to_string())
    });
}

/// Returns the single change that a command reports.
fn only_reported_change(place: &TestEnv, args: &[&str]) -> Value {
    let ran = place.latch(args);
    let document = ran.json();
    let changed = document["changed"].as_array().unwrap_or_else(|| panic!("{args:?}: {} {}", ran.stdout, ran.stderr));
    assert_eq!((changed.len(), &changed[0]["plugin"]), (1, &json!("witness")), "{document:#}");
    changed[0].clone()
}

/// I164: a changed component is reported with its old and its new digest. `latch run --new` runs the
/// configured component.
#[test]
fn changed_component_is_reported_with_both_digests() {
    let (place, id) = completed_job();
    configure_other_component(&place);
    for args in [place.run_args(), vec!["job", "show", &id, "--json"], vec!["resume", &id, "--json"]] {
        let change = only_reported_change(&place, &args);
        assert_eq!(change["setting"], "component", "{args:?}: {change}");
        let (then, now) = (change["pinned"].as_str().unwrap(), change["configured"].as_str().unwrap());
        assert!(then != now && [then, now].iter().all(|it| it.starts_with("sha256:")), "{change}");
    }
    let attached = place.latch(&["run", "plan.json", "--actor", "ada"]);
    for message in ["witness has changed since: sha256:", "is pinned", "is configured; `--new` runs the new one"] {
        assert!(attached.stdout.contains(message), "{message}: {}", attached.stdout);
    }
    // The offered command runs the configured component.
    assert!(attached.stdout.contains("latch run plan.json --new"), "{}", attached.stdout);
    let anew = place.latch(&[&place.run_args()[..], &["--new"]].concat());
    assert_eq!(anew.json()["changed"], Value::Null, "{}", anew.stdout);
}

/// I164: if a project is moved or copied as a whole, no change of its grants is reported.
#[test]
fn moved_project_has_the_same_grants() {
    let (place, id) = completed_job();
    let moved = place.fresh_copy();
    let displayed = moved.latch(&["job", "show", &id, "--json"]);
    assert_eq!(
        (displayed.code, &displayed.json()["changed"]),
        (0, &Value::Null),
        "{} {}",
        displayed.stdout,
        displayed.stderr
    );
}

/// I164: a changed limit is reported as a change of `limits`, and a changed grant as a change of `grants`.
#[test]
fn changed_limits_and_grants_are_reported() {
    let (place, id) = completed_job();
    rewrite_witness_table(&place, |table| format!("{table}limits = {{ fuel = 123456789 }}\n"));
    let change = only_reported_change(&place, &place.run_args());
    assert_eq!((&change["setting"], &change["configured"]), (&json!("limits"), &json!("fuel 123456789")), "{change}");
    let (place, id) = {
        drop(id);
        drop(place);
        completed_job()
    };
    rewrite_witness_table(&place, |table| table.replace("grants = { ", "grants = { kv = \"notes\", "));
    assert_eq!(only_reported_change(&place, &["job", "show", &id, "--json"])["setting"], "grants");
    let displayed = place.latch(&["job", "show", &id]);
    assert!(displayed.stdout.contains("witness has different grants or settings now"), "{}", displayed.stdout);
}

/// I164: an open job reports that it continues with its pinned component. If the plugin of the job is no
/// longer configured, `latch resume` is not offered.
#[test]
fn open_job_continues_with_its_pinned_component() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]).with_approved(vec![]);
    let parked = place.latch(&place.run_args());
    assert_eq!(parked.code, 3, "{} {}", parked.stdout, parked.stderr);
    let id = parked.json()["job_id"].as_str().expect("an id").to_owned();
    configure_other_component(&place);
    let displayed = place.latch(&["job", "show", &id]);
    assert!(displayed.stdout.contains("this job keeps the pinned one"), "{}", displayed.stdout);
    assert!(!displayed.stdout.contains("--new"), "{}", displayed.stdout);
    let approved = place.latch(&["job", "approve", &id, "o", "--actor", "bob"]);
    assert_eq!(approved.code, 0);
    assert!(approved.stderr.contains("witness has changed since"), "{}", approved.stderr);
    let whole = std::fs::read_to_string(place.dir.join("latch.toml")).unwrap();
    let rest: Vec<&str> = whole.split("[[plugin]]").filter(|it| !it.starts_with("\nname = \"witness\"")).collect();
    std::fs::write(place.dir.join("latch.toml"), rest.join("[[plugin]]")).unwrap();
    let lacking = place.latch(&["job", "show", &id, "--json"]).json();
    assert_eq!(lacking["changed"][0]["setting"], "plugin", "{lacking:#}");
    assert!(!lacking["next_actions"].to_string().contains("latch resume"), "{lacking:#}");
    std::fs::write(place.dir.join("latch.toml"), whole).unwrap();
    let done = place.latch(&["resume", &id, "--json"]);
    assert_eq!((done.code, &done.json()["state"]), (0, &json!("COMPLETED")), "{} {}", done.stdout, done.stderr);
    assert_eq!(place.effect_counts()["o"], 1);
}

/// I164: commands that reopen or end a job also report that the component of its plugin has changed.
#[test]
fn retry_and_cancel_report_a_changed_component() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]).with_approved(vec![]);
    let parked = place.latch(&place.run_args());
    assert_eq!(parked.code, 3, "{} {}", parked.stdout, parked.stderr);
    let id = parked.json()["job_id"].as_str().expect("an id").to_owned();
    assert_eq!(place.latch(&["job", "reject", &id, "o", "--actor", "bob"]).code, 0);
    assert_eq!(place.latch(&["resume", &id]).code, 1);
    configure_other_component(&place);
    assert_eq!(only_reported_change(&place, &["job", "retry", &id, "--json"])["setting"], "component");
    assert_eq!(only_reported_change(&place, &["job", "cancel", &id, "--json"])["setting"], "component");
}

/// I164: a worker reports a changed component once for each job, after its message that the job begins.
#[test]
fn worker_reports_a_changed_component_once_per_job() {
    let place = TestEnv::witness("atomic").fresh_copy();
    let place = place.with_plan(&[step("o", "Effect.Opaque", &[], json!({ "note": 1 }))]).with_approved(vec![]);
    let detached = place.latch(&["run", "plan.json", "--detach", "--json"]);
    let id = detached.json()["job_id"].as_str().expect("an id").to_owned();
    configure_other_component(&place);
    let worked = place.latch(&["worker", "--until-idle"]);
    let begins = worked.stderr.find(&format!("{id} begins")).unwrap_or_else(|| panic!("{}", worked.stderr));
    let changed = worked.stderr.find(&format!("{id}: witness has changed since: sha256:"));
    assert!(changed.is_some_and(|at| at > begins), "{}", worked.stderr);
    assert_eq!(worked.stderr.matches("has changed since").count(), 1, "{}", worked.stderr);
}
