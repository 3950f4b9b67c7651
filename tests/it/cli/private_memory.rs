//! Variables of the program, which other programs of the same user cannot read.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::support::program::{clear_environment, command_output, latch_binary, run_latch};
use crate::support::waiting::wait_until;

const SECRET: &str = "hunter2-hunter2";

/// User and group without rights, in number.
const NOBODY: &str = "65534";

/// Returns a command as a user who may not read every process. If the test runs as root, this is another user.
fn unprivileged(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()]);
    command.arg(program);
    command
}

fn run(program: &str, args: &[&str]) {
    let ran = Command::new(program).args(args).output().unwrap();
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A folder of the unprivileged user, with a copy of `latch`.
struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    /// Creates the folder with the content that `fill` writes. It lies in `/tmp`, because the unprivileged user must be
    /// able to enter it.
    fn new(fill: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        // Another process writes the copy, because a file that this process has open for writing cannot be started.
        run("cp", &[latch_binary().to_str().unwrap(), dir.path().to_str().unwrap()]);
        fill(dir.path());
        if rustix::process::geteuid().is_root() {
            run("chown", &["-R", &format!("{NOBODY}:{NOBODY}"), dir.path().to_str().unwrap()]);
        }
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns `program` as the unprivileged user, with a secret in its variables.
    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = unprivileged(program);
        command.args(args).current_dir(self.dir.path()).stdin(std::process::Stdio::null());
        clear_environment(&mut command);
        // The home folder is the project, so code is compiled at each start.
        command.env_remove("LATCH_CACHE_DIR").env("HOME", self.dir.path()).env("LC_ALL", "C");
        command.env("LATCH_SECRET_KEY", SECRET);
        command
    }
}

/// I236: a program of a build, such as a `build.rs`, cannot read the variables of the process that started it.
#[test]
fn program_of_a_build_cannot_read_the_variables_of_its_parent() {
    let folder = Folder::new(|dir| {
        let new = run_latch(dir, &["plugin", "new", "x", "--lang", "rust", "--kind", "step"]);
        assert_eq!(new.code, 0, "{}", new.stderr);
        let seen = dir.join("seen");
        let script =
            format!("#!/bin/sh\ncat /proc/$$/environ /proc/$PPID/environ >>'{}' 2>&1\nexit 1\n", seen.display());
        std::fs::create_dir(dir.join("bin")).unwrap();
        let write = "printf '%s' \"$1\" >\"$2\" && chmod +x \"$2\"";
        run("sh", &["-c", write, "sh", &script, dir.join("bin/cargo").to_str().unwrap()]);
    });
    let seen = || {
        let text = String::from_utf8_lossy(&std::fs::read(folder.path("seen")).unwrap()).into_owned();
        std::fs::remove_file(folder.path("seen")).unwrap();
        text
    };
    let path = std::env::join_paths(
        std::iter::once(folder.path("bin")).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    // The script finds the secret of a parent that is not private.
    let shell =
        folder.command(Path::new("sh"), &["-c", "env -i PATH=\"$PATH\" cargo; true"]).env("PATH", &path).output();
    assert_eq!(command_output(shell.unwrap()).code, 0);
    let found = seen();
    assert!(found.contains(SECRET), "{found}");
    let build = folder.command(&folder.path("latch"), &["plugin", "build", "x", "--json"]).env("PATH", &path).output();
    let built = command_output(build.unwrap());
    assert_ne!(built.code, 0, "{}", built.stdout);
    let found = seen();
    assert!(found.contains("PATH=") && found.contains("Permission denied"), "{found}");
    assert!(!found.contains(SECRET), "{found}");
}

/// A worker, which is killed on drop.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// I236: a build in another terminal cannot read the variables of a worker of the same user.
#[test]
fn program_of_the_same_user_cannot_read_the_variables_of_a_worker() {
    let folder = Folder::new(|dir| std::fs::write(dir.join("latch.toml"), "").unwrap());
    let worker = Worker(folder.command(&folder.path("latch"), &["worker"]).spawn().unwrap());
    wait_until("the worker opens its database", || folder.path("latch.db").exists());
    let file = PathBuf::from(format!("/proc/{}/environ", worker.0.id()));
    let read = unprivileged(Path::new("cat")).arg(&file).env("LC_ALL", "C").output().unwrap();
    let read = command_output(read);
    assert!(read.code == 1 && read.stderr.contains("Permission denied"), "{} {}", read.stdout, read.stderr);
}
