//! A real PostgreSQL server for tests, run from the system's binaries with a cluster in a temporary folder.
//!
//! `LATCH_TEST_POSTGRES` is the address of a server to use instead. Its user must be allowed to create databases. Tests
//! that stop servers or end their connections start their own server in any case. Without binaries and without an
//! address, a test prints a message and passes. If `LATCH_POSTGRES_REQUIRED` is set, the test fails instead.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;

const SERVER_VARIABLE: &str = "LATCH_TEST_POSTGRES";
/// Maximum length in bytes of the path of the folder for the servers. The path of a socket has at most 107 bytes.
const SOCKET_FOLDER_BYTES_MAX: usize = 60;
/// Variable that `.ci/run` sets. With this variable, tests without a server fail instead of being skipped.
const REQUIRED_VARIABLE: &str = "LATCH_POSTGRES_REQUIRED";

/// Creates a fresh database. If no server is available, prints a message and returns `None`.
pub(crate) async fn database() -> Option<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = shared_server()?;
    let name = format!("latch_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    sql(server, &format!("CREATE DATABASE {name}")).await;
    let (address, parameters) = server.split_once('?').unwrap_or((server, ""));
    let (base, _) = address.rsplit_once('/').expect("it names a database");
    Some(format!("{base}/{name}?{parameters}"))
}

/// Executes SQL on a separate connection, without the store.
pub(crate) async fn sql(url: &str, text: &str) -> Vec<PgRow> {
    let options: PgConnectOptions = url.parse().expect("an address");
    let mut conn = options.disable_statement_logging().connect().await.expect("the server answers");
    let rows = sqlx::query(AssertSqlSafe(text.to_owned())).fetch_all(&mut conn).await.expect("it is SQL");
    conn.close().await.expect("it closes");
    rows
}

/// Makes the server report a full disk for values longer than 1,000 bytes.
pub(crate) async fn simulate_full_disk(url: &str) {
    for text in [
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF length(NEW.value) > 1000 THEN \
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END IF; RETURN \
         NEW; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON kv_entries FOR EACH ROW EXECUTE FUNCTION full_disk()",
    ] {
        sql(url, text).await;
    }
}

/// Server shared by all tests of this process.
fn shared_server() -> Option<&'static str> {
    static SHARED: OnceLock<Option<(String, Option<Server>)>> = OnceLock::new();
    let (url, _) = SHARED
        .get_or_init(|| match std::env::var(SERVER_VARIABLE) {
            Ok(url) => Some((url, None)),
            Err(_) => Server::start().map(|server| (server.url(), Some(server))),
        })
        .as_ref()?;
    Some(url)
}

/// A separate server. The server ends when the value is dropped or the test process ends, even if the process is
/// killed.
pub(crate) struct Server {
    bin: PathBuf,
    dir: TempDir,
    settings: Vec<String>,
    running: Mutex<Option<Child>>,
}

/// Shell script that runs the server while standard input is open. When the input ends, the script stops the server
/// immediately. If the input contains the word `keep`, the script keeps the files of the server. An input that ends
/// without this word means that the test process has ended, and the script removes the files.
const KEEPER_SCRIPT: &str = r#"dir=$1; shift; "$@" & server=$!; read word; kill -QUIT $server 2>/dev/null; wait $server
[ "$word" = keep ] || rm -rf "$dir""#;

impl Server {
    /// Starts a server. If the binaries are missing, prints a message and returns `None`.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with additional settings.
    pub(crate) fn start_with(settings: &[&str]) -> Option<Self> {
        Self::start_in(&clusters_dir(), &[], settings)
    }

    /// Starts a server with its files in this folder, and with additional arguments of `initdb`.
    pub(crate) fn start_in(folder: &Path, made: &[&str], settings: &[&str]) -> Option<Self> {
        let server = Self::without_cluster(folder, settings)?;
        let made = server
            .command("initdb")
            .args(["--username=latch", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"])
            .args(made)
            .arg("-D")
            .arg(server.data_dir())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server.run();
        Some(server)
    }

    /// Starts a standby with a copy of this server. The standby streams from this server, or from the server that the
    /// settings name.
    pub(crate) fn start_standby(&self, settings: &[&str]) -> Self {
        let standby = Self::without_cluster(&clusters_dir(), settings).expect("there is a server");
        let made = standby
            .command("pg_basebackup")
            .args(["--username=latch", "--checkpoint=fast", "--write-recovery-conf", "--no-sync", "-h"])
            .arg(self.dir.path())
            .arg("-D")
            .arg(standby.data_dir())
            .output()
            .expect("pg_basebackup runs");
        assert!(made.status.success(), "pg_basebackup: {}", String::from_utf8_lossy(&made.stderr));
        standby.run();
        standby
    }

    /// Prepares an empty folder for the files of a server.
    fn without_cluster(folder: &Path, settings: &[&str]) -> Option<Self> {
        let Some(bin) = binaries() else {
            assert!(
                std::env::var_os(REQUIRED_VARIABLE).is_none(),
                "{REQUIRED_VARIABLE} is set, and there is no PostgreSQL"
            );
            // Bypasses the test harness, which shows printed text only for failed tests.
            let message = "SKIPPED: there is no PostgreSQL here (initdb is in none of PATH and /usr/lib/postgresql)\n";
            let _ = std::io::stderr().write_all(message.as_bytes());
            return None;
        };
        let dir = tempfile::Builder::new().prefix("latch-pg").tempdir_in(folder).expect("a temporary folder");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("the file is ours");
        if let Some((uid, gid)) = unprivileged_user() {
            chown(dir.path(), Some(uid), Some(gid)).expect("root may");
        }
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        Some(Self { bin, dir, settings, running: Mutex::default() })
    }

    /// Directory of the server's socket.
    pub(crate) fn socket_dir(&self) -> &Path {
        self.dir.path()
    }

    /// Directory of the server's cluster.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Address of the server's first database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://latch@localhost:{}/postgres?host={}", self.port(), self.dir.path().display())
    }

    /// Port of the socket, and of the network address if the settings name one.
    fn port(&self) -> &str {
        self.settings.iter().find_map(|setting| setting.strip_prefix("port=")).unwrap_or("5432")
    }

    /// Starts the server again after [`Server::stop`].
    pub(crate) fn run(&self) {
        let mut command = Command::new("sh");
        let (program, first) = self.program("postgres");
        command.args(["-c", KEEPER_SCRIPT, "sh"]).arg(self.dir.path()).arg(program).args(first);
        command.arg("-D").arg(self.data_dir()).arg("-k").arg(self.dir.path());
        for setting in ["listen_addresses=", "shared_buffers=16MB", "max_connections=200"] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let log = std::fs::File::options().create(true).append(true).open(self.dir.path().join("log")).expect("a log");
        let error = log.try_clone().expect("a log");
        let child = command.stdin(Stdio::piped()).stdout(log).stderr(error).spawn().expect("sh runs");
        *self.running.lock().expect("the lock is not poisoned") = Some(child);
        for _ in 0..600 {
            let mut ready = Command::new(self.bin.join("pg_isready"));
            ready.args(["-q", "-p", self.port(), "-h"]).arg(self.dir.path());
            if ready.status().is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not start: {}", self.log());
    }

    /// Stops the server immediately, as in a crash.
    pub(crate) fn stop(&self) {
        if let Some(mut child) = self.running.lock().expect("the lock is not poisoned").take() {
            if let Some(mut input) = child.stdin.take() {
                let _ = input.write_all(b"keep\n");
            }
            let _ = child.wait();
        }
    }

    /// Text of the server's log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Returns a command for a program of PostgreSQL, run as a user other than root. PostgreSQL refuses to
    /// run as root.
    pub(crate) fn command(&self, name: &str) -> Command {
        let (program, first) = self.program(name);
        let mut command = Command::new(program);
        command.args(first).current_dir(self.dir.path());
        command
    }

    fn program(&self, name: &str) -> (PathBuf, Vec<String>) {
        let program = self.bin.join(name);
        match unprivileged_user() {
            None => (program, Vec::new()),
            Some((uid, gid)) => {
                let as_other = [format!("--reuid={uid}"), format!("--regid={gid}"), "--clear-groups".to_owned()];
                let mut first = as_other.to_vec();
                first.push(program.display().to_string());
                ("setpriv".into(), first)
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Folder for the files of servers. This is the folder for temporary files. If other users cannot enter that folder, or
/// if its path is too long for a socket in it, this is `/tmp`.
fn clusters_dir() -> PathBuf {
    let folder = std::env::temp_dir();
    let is_open = std::fs::metadata(&folder).is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    let is_short = folder.as_os_str().len() <= SOCKET_FOLDER_BYTES_MAX;
    if is_open && is_short { folder } else { PathBuf::from("/tmp") }
}

/// Directory of the newest PostgreSQL binaries.
fn binaries() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").is_file())
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).find(|dir: &PathBuf| dir.join("initdb").is_file());
    found.pop().map(|(_, bin)| bin).or(in_path)
}

/// Gives a file to the user that servers run as, with permission for that user only.
pub(crate) fn hand_over(file: &Path) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).expect("the file is ours");
    if let Some((uid, gid)) = unprivileged_user() {
        chown(file, Some(uid), Some(gid)).expect("root may");
    }
}

/// Returns the user and the group that run the server, if this process is root. PostgreSQL refuses to run as root.
fn unprivileged_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string(Path::new("/etc/passwd")).expect("there are users");
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().ok());
        Some((fields.next()??, fields.next()??))
    })
}
