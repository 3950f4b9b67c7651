use latchwork_guest::Code;
use latchwork_guest::testing::Host;
use latchwork_guest::tool::{Context, Finding, Verdict};
use serde_json::{Value, json};

use super::{Args, Change, compensate, reconcile, send, verify};

struct Mailbox {
    directory: tempfile::TempDir,
    host: Host,
}

fn mailbox() -> Mailbox {
    let directory = tempfile::tempdir().unwrap();
    let host = Host::new().dir("/outbox", directory.path()).config("from", "Ada <ada@example.org>");
    Mailbox { directory, host: host.external_key("latch:job_1:s6:1") }
}

impl Mailbox {
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.directory.path().join(folder)) else { return vec![] };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
    fn args(&self) -> Args {
        args(json!({ "to": "grace@example.org", "subject": "Hello", "body": "Dear Grace,\n" }))
    }
}

fn args(value: Value) -> Args {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_message_arrives_whole_and_once() {
    let mailbox = mailbox();
    let first = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    let again = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    assert_eq!(first.result().path, again.result().path);
    assert_eq!(mailbox.names("new").len(), 1);
    assert!(mailbox.names("tmp").is_empty());
    let text = std::fs::read_to_string(mailbox.directory.path().join(&first.result().path)).unwrap();
    for line in [
        "From: \"Ada\" <ada@example.org>\r\n",
        "To: grace@example.org\r\n",
        "Subject: Hello\r\n",
        "Message-ID: <latch.job_1.s6.1@latchwork.invalid>\r\n",
        "\r\n\r\nDear Grace,\r\n",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
}

#[test]
fn a_message_that_was_read_is_not_delivered_again() {
    let mailbox = mailbox();
    let sent = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    let root = mailbox.directory.path();
    let name = sent.result().path.strip_prefix("new/").unwrap().to_owned();
    std::fs::rename(root.join("new").join(&name), root.join("cur").join(format!("{name}:2,S"))).unwrap();
    let again = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    assert_eq!(again.result().path, format!("cur/{name}:2,S"));
    assert!(mailbox.names("new").is_empty());
    let finding = mailbox.host.run(|| verify(&sent.changes()[0])).unwrap();
    assert_eq!(finding, Finding::Confirmed);
}

#[test]
fn incomplete_file_in_tmp_is_replaced() {
    let mailbox = mailbox();
    let tmp = mailbox.directory.path().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    std::fs::write(tmp.join("latch=3ajob_1=3as6=3a1"), "From: half a mess").unwrap();
    let verdict = mailbox.host.run(|| reconcile(mailbox.args(), "latch:job_1:s6:1")).unwrap();
    assert!(matches!(verdict, Verdict::DidNotHappen));
    mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    assert_eq!((mailbox.names("new").len(), mailbox.names("tmp").len()), (1, 0));
}

#[test]
fn reconcile_reports_whether_the_call_happened() {
    let mailbox = mailbox();
    let ask = |key: &str| mailbox.host.run(|| reconcile(mailbox.args(), key)).unwrap();
    assert!(matches!(ask("latch:job_1:s6:1"), Verdict::DidNotHappen));
    let sent = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    let Verdict::Happened(found) = ask("latch:job_1:s6:1") else { panic!("it was delivered") };
    assert_eq!(found.result().message_id, sent.result().message_id);
    assert!(matches!(ask("latch:job_2:s6:1"), Verdict::DidNotHappen));
}

#[test]
fn compensate_deletes_the_message_and_fails_without_one() {
    let mailbox = mailbox();
    let sent = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    let change: Change = sent.changes()[0].clone();
    let undo = || {
        let result = serde_json::from_value(json!(sent.result())).unwrap();
        mailbox.host.run(|| compensate(mailbox.args(), result, "latch:job_1:s6:1"))
    };
    undo().unwrap();
    assert!(mailbox.names("new").is_empty());
    assert!(matches!(mailbox.host.run(|| verify(&change)).unwrap(), Finding::Mismatch(_)));
    // The message no longer exists. A mail reader may have deleted it after a person read it, so a person decides about
    // the undo.
    assert_eq!(undo().unwrap_err().code(), Code::PolicyDenied);
}

#[test]
fn read_message_cannot_be_withdrawn() {
    let mailbox = mailbox();
    let sent = mailbox.host.run(|| send(mailbox.args(), &Context::default())).unwrap();
    let (new, cur) = (mailbox.directory.path().join("new"), mailbox.directory.path().join("cur"));
    let name = mailbox.names("new").remove(0);
    std::fs::rename(new.join(&name), cur.join(format!("{name}:2,S"))).unwrap();
    let result = serde_json::from_value(json!(sent.result())).unwrap();
    let refused = mailbox.host.run(|| compensate(mailbox.args(), result, "latch:job_1:s6:1")).unwrap_err();
    assert_eq!(refused.code(), Code::PolicyDenied);
    assert_eq!(mailbox.names("cur").len(), 1, "and nothing is deleted");
}

#[test]
fn invalid_message_writes_nothing() {
    let mailbox = mailbox();
    for bad in [
        json!({ "to": "grace", "subject": "s", "body": "b" }),
        json!({ "to": [], "subject": "s", "body": "b" }),
        json!({ "to": "grace@example.org", "subject": "s\r\nBcc: eve@example.org", "body": "b" }),
        json!({ "from": "Eve\nX: y <eve@example.org>", "to": "grace@example.org", "subject": "s", "body": "b" }),
    ] {
        let error = mailbox.host.run(|| send(args(bad.clone()), &Context::default())).unwrap_err();
        assert_eq!(error.code(), Code::InvalidInput, "{bad}");
    }
    assert!(mailbox.names("").is_empty());
}
