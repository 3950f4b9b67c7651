//! Places of the configuration file, and precedence of flags, variables and the file.

use std::path::Path;

use latchwork::config::{Config, LoadOptions, SettingSource};

use crate::config::{Folder, options};

#[test]
fn configuration_file_is_searched_in_documented_order() {
    let (cwd, plan, named) = (Folder::with("lease = \"21s\""), Folder::with("lease = \"22s\""), Folder::empty());
    let deep = plan.path().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let file = named.path().join("other.toml");
    std::fs::write(&file, "lease = \"23s\"").unwrap();
    let flag = named.path().join("flag.toml");
    std::fs::write(&flag, "lease = \"24s\"").unwrap();
    let trusting = |name: &str| (name == "LATCH_TRUST_CONFIG").then(|| "1".to_owned());
    let options = |cwd| LoadOptions { env: &trusting, ..options(cwd) };
    let lease = |options: &LoadOptions<'_>| Config::load(options).unwrap().lease_ms();

    let nowhere = Folder::empty();
    assert_eq!(lease(&options(nowhere.path())), 15_000);
    assert_eq!(lease(&LoadOptions { plan_folder: Some(&deep), ..options(nowhere.path()) }), 22_000);
    let near = LoadOptions { plan_folder: Some(&deep), ..options(cwd.path()) };
    assert_eq!(lease(&near), 21_000, "the working directory comes before the plan's");
    let below = cwd.path().join("c/d");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(lease(&options(&below)), 21_000, "the nearest file above the working directory");
    let near_from_below = LoadOptions { plan_folder: Some(&deep), ..options(&below) };
    assert_eq!(lease(&near_from_below), 22_000, "the plan's comes before one above the working directory");
    let variable = |name: &str| (name == "LATCH_CONFIG").then(|| file.display().to_string());
    let from_variable = LoadOptions { env: &variable, ..near };
    assert_eq!(lease(&from_variable), 23_000);
    assert_eq!(lease(&LoadOptions { config: Some(&flag), ..from_variable }), 24_000);

    let missing = Path::new("missing.toml");
    let errors = Config::load(&LoadOptions { config: Some(missing), ..options(cwd.path()) }).unwrap_err();
    assert_eq!(errors.0[0].code, "L0001");
    assert_eq!(errors.0[0].origin, SettingSource::WholeFile(cwd.path().join("missing.toml")));
}

/// I204. Without trust, the use of a configuration file that the user has not named has two conditions. The file is in
/// the folder where the search starts, and it belongs to the user.
#[test]
fn configuration_above_or_of_another_user_needs_trust() {
    let (folder, plan) = (Folder::with("lease = \"21s\""), Folder::with("lease = \"22s\""));
    let (below, deep) = (folder.path().join("a/b"), plan.path().join("c"));
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir_all(&deep).unwrap();
    let nowhere = Folder::empty();
    let load = |options: &LoadOptions<'_>| match Config::load(options) {
        Ok(config) => Ok(config.lease_ms()),
        Err(errors) => Err((errors.0[0].code, errors.to_string())),
    };
    assert_eq!(load(&options(folder.path())), Ok(21_000));
    assert_eq!(load(&LoadOptions { plan_folder: Some(plan.path()), ..options(nowhere.path()) }), Ok(22_000));
    let file = folder.path().join("latch.toml");
    let above = [
        (options(&below), file.clone()),
        (LoadOptions { plan_folder: Some(&deep), ..options(nowhere.path()) }, plan.path().join("latch.toml")),
    ];
    for (found, file) in &above {
        let (code, message) = load(found).unwrap_err();
        assert_eq!(code, "L0028");
        assert!(message.contains(&format!("--config {}", file.display())), "{message}");
    }
    assert_eq!(load(&LoadOptions { config: Some(&file), ..options(&below) }), Ok(21_000));
    let named = |name: &str| (name == "LATCH_CONFIG").then(|| file.display().to_string());
    assert_eq!(load(&LoadOptions { env: &named, ..options(&below) }), Ok(21_000));
    for (value, trusted) in [("1", true), ("0", false), ("", false)] {
        let set = |name: &str| (name == "LATCH_TRUST_CONFIG").then(|| value.to_owned());
        assert_eq!(load(&LoadOptions { env: &set, ..options(&below) }).is_ok(), trusted, "{value:?}");
    }
    // Only the superuser can give a file to another user.
    if std::os::unix::fs::chown(&file, Some(4_242), None).is_ok() {
        let (code, message) = load(&options(folder.path())).unwrap_err();
        assert!(code == "L0028" && message.contains("4242"), "{message}");
        assert_eq!(load(&LoadOptions { config: Some(&file), ..options(folder.path()) }), Ok(21_000));
        // A link that another user owns is refused, because relative paths start at the link. This holds even if the
        // link leads to a file of this user. A file in a folder of another user is refused, too.
        let planted = Folder::empty();
        let link = planted.path().join("latch.toml");
        std::os::unix::fs::symlink(plan.path().join("latch.toml"), &link).unwrap();
        assert_eq!(load(&options(planted.path())), Ok(22_000));
        std::os::unix::fs::lchown(&link, Some(4_242), None).unwrap();
        assert_eq!(load(&options(planted.path())).unwrap_err().0, "L0028");
        std::os::unix::fs::chown(plan.path(), Some(4_242), None).unwrap();
        assert_eq!(load(&options(plan.path())).unwrap_err().0, "L0028");
    }
}

#[test]
fn flag_wins_over_variable_and_variable_over_file() {
    let folder = Folder::with("database = \"sqlite:///file.db\"");
    let variable = |name: &str| (name == "LATCH_DATABASE").then(|| "sqlite:///variable.db".to_owned());
    let database = |options: &LoadOptions<'_>| Config::load(options).unwrap().database().to_owned();
    assert_eq!(database(&options(folder.path())), "sqlite:///file.db");
    let with_variable = LoadOptions { env: &variable, ..options(folder.path()) };
    assert_eq!(database(&with_variable), "sqlite:///variable.db");
    let with_flag = LoadOptions { db: Some("sqlite://flag.db"), ..with_variable };
    assert_eq!(database(&with_flag), format!("sqlite://{}/flag.db", folder.path().display()));

    let postgres = LoadOptions { db: Some("postgres://a:b@localhost/latch"), ..options(folder.path()) };
    assert_eq!(database(&postgres), "postgres://a:b@localhost/latch");
    let nameless = LoadOptions { db: Some("postgres://localhost"), ..options(folder.path()) };
    let errors = Config::load(&nameless).unwrap_err();
    assert_eq!(errors.0[0].origin, SettingSource::Flag("--db"));
    assert!(errors.0[0].message.contains("the URL has no database"), "{errors}");
}
