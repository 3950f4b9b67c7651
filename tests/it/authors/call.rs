//! `latch call`

use crate::support::program;
use crate::support::test_env::TestEnv;

/// I152: a call that changes the world is refused unless the caller declares its effect. The error shows the
/// flag to add.
#[test]
fn world_changing_call_without_effect_flag_is_refused_with_the_flag_to_add() {
    let place = TestEnv::witness("atomic");
    let refused = place.latch(&["call", "Effect.Opaque", r#"{"note":1}"#]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("[L0085]") && refused.stderr.contains("--effect external_send"),
        "{}",
        refused.stderr
    );
    let unknown = place.latch(&["call", "Effect.Opaqe"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `Effect.Opaque`?"), "{}", unknown.stderr);
    let broken = place.latch(&["call", "Effect.Read", "{note:1}"]);
    assert_eq!(broken.code, 2);
    assert!(broken.stderr.contains("ARGS:1:2"), "{}", broken.stderr);
    assert!(place.effect_counts().is_empty());
    assert_eq!(place.only_job(), serde_json::Value::Null, "nothing was begun");
}

/// I152: `latch call` creates a job with a gate and a ledger row. Repeating the same call attaches to that
/// job.
#[test]
fn call_is_gated_then_executed_once_and_a_repeat_attaches_to_the_job() {
    let place = TestEnv::witness("atomic");
    let call = ["call", "Effect.Opaque", r#"{"note":1}"#, "--effect", "external_send", "--actor", "ada", "--json"];
    let with = |more: &[&str]| place.latch(&[&call, more].concat());
    let gated = with(&[]);
    assert_eq!((gated.code, gated.json()["blocked_on"]["reason_code"].as_str()), (3, Some("REQUIRES_APPROVAL")));
    assert!(place.effect_counts().is_empty());
    let id = gated.json()["job_id"].as_str().unwrap().to_owned();
    assert_eq!(place.latch(&["job", "approve", &id, "call", "--actor", "ada"]).code, 0);
    for _ in 0..2 {
        let attached = with(&[]);
        assert_eq!((attached.code, attached.json()["job_id"].as_str()), (0, Some(id.as_str())), "{}", attached.stderr);
        assert!(attached.stderr.contains("attached to"), "{}", attached.stderr);
    }
    assert_eq!(place.effect_counts().get("call"), Some(&1));
    let again = with(&["--new", "--approve"]);
    assert_eq!(again.code, 0, "{} {}", again.stdout, again.stderr);
    assert_ne!(again.json()["job_id"].as_str(), Some(id.as_str()));
    assert_eq!(place.effect_counts().get("call"), Some(&2), "another call is another action");
}

#[test]
fn call_reads_arguments_from_command_line_file_or_stdin() {
    let place = TestEnv::witness("atomic");
    std::fs::write(place.dir.join("args.json"), r#"{"note":"from a file"}"#).unwrap();
    let call = |args: &str, stdin: Option<&str>| {
        let words = ["call", "Effect.Opaque", args, "--effect", "external_send", "--approve", "--json"];
        let mut command = program::latch_command(&place.dir, &words);
        if let Some(text) = stdin {
            std::fs::write(place.dir.join("stdin"), text).unwrap();
            command.stdin(std::fs::File::open(place.dir.join("stdin")).unwrap());
        }
        let ran = program::command_output(command.output().unwrap());
        assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    };
    call(r#"{"note":"as it stands"}"#, None);
    call("@args.json", None);
    call("-", Some(r#"{"note":"from stdin"}"#));
    let files = std::fs::read_dir(place.dir.join("effects")).unwrap();
    let notes: String = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for note in ["as it stands", "from a file", "from stdin"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let missing = place.latch(&["call", "Effect.Read", "@none.json"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("none.json"), "{}", missing.stderr);
}

/// A refused call creates no database, neither in a project nor in another folder.
#[test]
fn refused_call_creates_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let refused = program::run_latch(folder.path(), &["call", "No.Such", "--json"]);
    assert_eq!((refused.code, refused.json()["error"]["code"].as_str()), (2, Some("L0085")), "{}", refused.stdout);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let place = TestEnv::witness("atomic").fresh_copy();
    for operator in ["Effect.Opaqe", "Effect.Opaque"] {
        let refused = place.latch(&["call", operator, "{}", "--json"]);
        assert_eq!((refused.code, refused.json()["error"]["code"].as_str()), (2, Some("L0085")), "{}", refused.stdout);
        assert!(!place.dir.join("latch.db").exists() && !place.dir.join(".latch").exists(), "{operator}");
    }
}
