//! Settings of single plugins.

use latchwork_core::model::manifest::WasiMode;

use crate::config::{Folder, problems};

#[test]
fn plugin_wasi_mode_is_read() {
    let wasi = |line: &str| {
        let text = format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\n{line}");
        Folder::with(&text).load().unwrap().plugins()[0].wasi
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
    let retry = config.plugins()[0].retry.clone().unwrap();
    assert_eq!((retry.max, retry.base_ms, retry.cap_ms), (Some(7), Some(50), Some(2_000)));
    for wrong in ["max = 101", "max = -1", "base = \"2d\"", "cap = 5"] {
        let found = problems(&plugin(wrong));
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
    }
    assert!(problems(&plugin("attempts = 5"))[0].contains("L0003"));
}

#[test]
fn confirmation_settings_are_read_and_checked() {
    use latchwork_core::model::manifest::Confirmation;
    let plugin = |lines: &str| {
        let grants = "grants = { http = [{ url = \"https://a.example\", secrets = [\"TOKEN\"] }], dirs = [{ host = \"d\", guest = \"/d\" }] }";
        format!("[[plugin]]\nname = \"a\"\nsource = \"a\"\n{grants}\n{lines}")
    };
    let top = "confirmation = \"warn\"\n";
    let verifier = "verifier = { name = \"etag\", headers = { Authorization = \"Bearer ${TOKEN}\" } }";
    let config = Folder::with(&format!("{top}{}\nconfirmation = \"human_in_loop\"", plugin(verifier))).load().unwrap();
    assert_eq!(config.confirmation(), Confirmation::Warn);
    assert_eq!(config.plugins()[0].confirmation, Some(Confirmation::HumanInLoop));
    let read = config.plugins()[0].verifier.as_ref().unwrap();
    assert_eq!((read.name.as_str(), read.headers.len()), ("etag", 1));
    let plain = Folder::with(&plugin("verifier = \"file-digest\"")).load().unwrap();
    assert_eq!(plain.plugins()[0].verifier.as_ref().unwrap().name, "file-digest");
    assert_eq!(plain.confirmation(), Confirmation::Strict);
    for (lines, place, says) in [
        ("verifier = \"etg\"", "5:12 L0006 plugin[0].verifier: ", "did you mean `etag`?"),
        ("confirmation = \"strct\"", "5:16 L0006 plugin[0].confirmation: ", "did you mean `strict`?"),
        ("verifier = { name = \"file-digest\", headers = { A = \"b\" } }", "5:46 L0006", "sends no requests"),
        (
            "verifier = { name = \"etag\", headers = { A = \"${OTHER}\" } }",
            "5:45 L0006",
            "no grant binds the secret OTHER to the header `a`",
        ),
        ("verifier = { name = \"etag\", headers = { A = \"${TOKEN}\" } }", "5:45 L0006", "in = [\"header:a\"]"),
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
