//! Policies of tenants.

use latchwork_core::model::manifest::EffectKind;

use crate::config::{Folder, problems};

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
    let policy = &config.policy()["default"];
    assert_eq!((policy.version, policy.modes.len()), (Some(3), 2));
    let auto = &policy.auto_exec;
    assert_eq!((auto.enabled, auto.min_trust, auto.trust["ada/Mail.Send"], auto.trust.len()), (true, 2, 3, 2));
    assert_eq!(policy.require.values().next().map(Vec::len), Some(2));
    assert!(policy.gate_effects.is_empty(), "the built-in gates would leave nothing for trust to lift");
    assert_eq!(config.policy()["named"].gate_effects, [EffectKind::ExternalSend], "gates that are named stay");
    assert!(!config.policy()["strict"].auto_exec.enabled);
    assert_eq!(
        config.policy()["strict"].gate_effects,
        Folder::empty().load().unwrap().policy()["default"].gate_effects
    );
    let hash = |text: &str| Folder::with(text).load().unwrap().policy()["default"].hash;
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

/// I42: a policy under which no job could be accepted is refused. An invalid tenant name is refused, too.
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
fn policy_hash_depends_only_on_its_meaning() {
    let hash = |text: &str| Folder::with(text).load().unwrap().policy()["default"].hash;
    let plain = hash("");
    assert_eq!(plain, hash("[policy.default]\nmodes = [\"HUMAN_GATED\", \"DRY_RUN\", \"DRAFT_ONLY\", \"DRY_RUN\"]"));
    assert_ne!(plain, hash("[policy.default]\nmodes = [\"DRY_RUN\"]"));
    assert_ne!(plain, hash("[policy.default]\ngate = { tags = [\"money\"] }"));
    assert_ne!(plain, hash("[policy.default]\ngate = { effects = [] }"));
    for gate in ["expires = \"1h\"", "quorum = 2", "self_approve = false", "reason = true"] {
        assert_ne!(plain, hash(&format!("[policy.default]\ngate = {{ {gate} }}")), "{gate}");
    }
    let stated = "gate = { expires = \"72h\", quorum = 1, self_approve = true, reason = false }";
    assert_eq!(plain, hash(&format!("[policy.default]\n{stated}")), "explicit default values do not change the hash");
    assert_ne!(plain, hash("[policy.default]\nstanding_approvals = false"));
}
