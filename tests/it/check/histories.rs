//! I62: the check runs a build with the histories of real jobs. A finding for a divergence contains its
//! position, the recorded value and the new value.

use serde_json::{Value, json};

use super::Folder;
use crate::support::plugins::built_guests::guest;
use crate::support::test_env::{TestEnv, step};

/// Runs a job with `Versioned.Run` and exports it. Returns the environment and the job id.
fn export_versioned_job(folder: &Folder, more: &[&str]) -> (TestEnv, String) {
    let config = format!(
        "[[plugin]]\nname = \"check\"\nsource = {:?}\n[[plugin]]\nname = \"tool\"\nsource = {:?}\n\
         grants = {{ http = [\"http://127.0.0.1:9\"], tcp = [\"127.0.0.1:9\"], kv = \"k\", secrets = [\"TOKEN\"], \
         dirs = [{{ host = \"d\", guest = \"/d\", write = true }}] }}\n",
        folder.file("check.wasm"),
        guest("hostile-tool")
    );
    let place = TestEnv::configured(&config, vec![]);
    let mut one = step("s", "Versioned.Run", &[], json!({ "n": 7 }));
    one["effects"] = json!(["read_only"]);
    let place = place.with_plan(&[one]);
    let ran = place.latch(&["run", "plan.json", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let id = ran.json()["job_id"].as_str().unwrap().to_owned();
    let out = folder.file("job.jsonl");
    let exported = place.latch(&[&["job", "export", &id, "--out", &out, "--force"], more].concat());
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    (place, id)
}

fn single_finding(report: &Value) -> &Value {
    let found = report["findings"].as_array().unwrap();
    let found: Vec<_> = found.iter().filter(|finding| finding["rule"] != "D050").collect();
    assert_eq!(found.len(), 1, "{report:#}");
    found[0]
}

/// I62.
#[test]
fn each_kind_of_divergence_is_found_at_its_position() {
    let folder = Folder::new();
    let (_place, id) = export_versioned_job(&folder, &[]);
    let same = folder.check(&["--history", "job.jsonl", "--json"]);
    let report = same.json();
    assert_eq!(same.code, 0, "{report:#}");
    assert_eq!(report["histories"], json!([{ "file": "job.jsonl", "job": id, "steps": 1, "diverged": 0 }]));
    let case = &report["cases"][0];
    assert_eq!(
        (&case["operator"], &case["ended"]),
        (&json!("Versioned.Run"), &json!("an output")),
        "the replayed step counts as a case"
    );
    let again = folder.check(&["--history", "job.jsonl", "--json"]);
    assert_eq!(again.stdout, same.stdout, "to the byte");

    for (build, rule, message, expected, found) in [
        (1, "D150", "s/0: arguments of the call", "salted hash ", "\"note\":\"new\""),
        (2, "D151", "s:e0: payload of the event, at /is_new", "false", "true"),
        (3, "D152", "s: bytes of the output, at /build", "0", "3"),
        (4, "D153", "refuses the recorded input", "", ""),
        (5, "D153", "Versioned.Run, which this build does not serve", "", ""),
    ] {
        let other = folder.write_build(build);
        let checked = folder.check_file(&other, &["--history", "job.jsonl", "--json"]);
        let report = checked.json();
        assert_eq!(checked.code, 1, "{build}: {report:#}");
        let finding = single_finding(&report);
        assert_eq!(finding["rule"], rule, "{build}: {report:#}");
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        assert!(text("message").contains(message), "{build}: {finding:#}");
        assert!(text("expected").contains(expected) && text("found").contains(found), "{build}: {finding:#}");
        assert_eq!(finding["place"]["file"], "job.jsonl");
        let placed = finding["place"]["line"].as_u64().is_some_and(|line| line > 1);
        assert!(placed || build == 5, "{finding:#}");
        if rule == "D150" || rule == "D151" {
            assert!(finding["functions"].to_string().contains("versioned"), "{finding:#}");
        }
    }
}

/// A history that cannot be replayed is reported as not replayable, and not as a divergence. Three histories are
/// tested: one with withheld payloads, one of another plugin, and one in a damaged file.
#[test]
fn history_that_cannot_be_replayed_is_reported() {
    let folder = Folder::new();
    export_versioned_job(&folder, &["--withhold-all"]);
    let withheld = folder.check(&["--history", "job.jsonl", "--json"]);
    let report = withheld.json();
    assert_eq!((withheld.code, &single_finding(&report)["rule"]), (0, &json!("D154")), "{report:#}");
    assert_eq!(report["histories"][0]["steps"], 0);

    export_versioned_job(&folder, &[]);
    let hostile = guest("hostile-step");
    let foreign = folder.check_file(hostile.to_str().unwrap(), &["--history", "job.jsonl", "--json"]).json();
    assert_eq!(single_finding(&foreign)["rule"], "D155", "{foreign:#}");

    let text = std::fs::read_to_string(folder.file("job.jsonl")).unwrap();
    folder.write("job.jsonl", &text.replacen("step_started", "step_startet", 1));
    let damaged = folder.check(&["--history", "job.jsonl", "--json"]);
    assert_eq!((damaged.code, &damaged.json()["error"]["code"]), (2, &json!("L0061")), "{}", damaged.stdout);
    folder.write("job.jsonl", "{}\n");
    let none = folder.check(&["--history", "job.jsonl", "--json"]);
    assert_eq!((none.code, &none.json()["error"]["code"]), (2, &json!("L0050")), "{}", none.stdout);
}
