//! Sources that cannot become a component are refused at build time, with the location of the fault.

use serde_json::Value;

use crate::sdk::LANGS;
use crate::support::plugins::sdk_tools::run_latch;

pub(super) fn build_error(lang: &str, sources: &[(&str, &str)]) -> Value {
    let parent = tempfile::tempdir().unwrap();
    let new = run_latch(parent.path(), &["plugin", "new", "x", "--lang", lang, "--kind", "step"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    for (path, text) in sources {
        std::fs::write(parent.path().join("x").join(path), text).unwrap();
    }
    let built = run_latch(parent.path(), &["plugin", "build", "x", "--json"]);
    assert_ne!(built.code, 0, "{lang} builds: {}", built.stdout);
    assert!(!parent.path().join("x/build/x.wasm").exists());
    built.json()["error"].clone()
}

#[test]
fn late_import_that_cannot_be_resolved_early_is_refused_with_file_and_line() {
    let text = "from latchwork import step\n\n\n@step(\"A.B\")\ndef f(x, context):\n    import no_such_module\n\n    \
                name = x[\"m\"]\n    return __import__(name)\n";
    let error = build_error("python", &[("plugin.py", text)]);
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["code"], "L0057");
    for line in [
        "plugin.py:9: imports a module whose name is only known at run time",
        "plugin.py:6: there is no module no_such_module",
    ] {
        assert!(message.contains(line), "{line}: {message}");
    }
}

/// I52.
#[test]
#[ignore = "builds several large components; run by .ci/long"]
fn time_and_randomness_at_module_level_are_refused() {
    for (lang, path, text) in [
        ("js", "src/plugin.js", "import '../latchwork/index.js';\nconst started = Date.now();\n"),
        ("js", "src/plugin.js", "import '../latchwork/index.js';\nconst dice = Math.random();\n"),
        ("python", "plugin.py", "import latchwork, time\nSTARTED = time.time()\n"),
        ("python", "plugin.py", "import latchwork, random\nDICE = random.random()\n"),
    ] {
        let message = build_error(lang, &[(path, text)])["message"].to_string();
        assert!(message.contains("would be frozen into the component"), "{lang} {text}: {message}");
    }
}

#[test]
fn plugin_without_operators_or_sdk_is_refused() {
    for (lang, path, text) in [("js", "src/plugin.js", ""), ("python", "plugin.py", "")] {
        let message = build_error(lang, &[(path, text)])["message"].to_string();
        assert!(message.contains("the plugin registers no operator"), "{lang}: {message}");
    }
    for lang in LANGS {
        let parent = tempfile::tempdir().unwrap();
        run_latch(parent.path(), &["plugin", "new", "x", "--lang", lang, "--kind", "step"]);
        std::fs::remove_dir_all(parent.path().join("x/latchwork")).unwrap();
        let built = run_latch(parent.path(), &["plugin", "build", "x", "--json"]);
        assert_eq!((built.code, &built.json()["error"]["code"]), (2, &Value::from("L0058")), "{lang}");
        let again = run_latch(parent.path(), &["plugin", "new", "x", "--lang", lang, "--kind", "step", "--json"]);
        assert_eq!((again.code, &again.json()["error"]["code"]), (2, &Value::from("L0059")), "{lang}");
    }
}
