//! Encrypted connections: the server's identity is verified, and a server that fails verification is refused.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use sqlx::Row;

use crate::support::program::CommandOutput;
use crate::support::running_worker::{RunningWorker, resolve_until_over, submit_detached, worker_command};
use crate::support::servers::postgres::server::{Server, hand_over, sql};
use crate::support::test_env::TestEnv;
use crate::support::waiting::block_on;

/// Certificate authority and the file of its certificate.
struct CertificateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl CertificateAuthority {
    fn new(dir: &Path, name: &str) -> CertificateAuthority {
        let mut params = CertificateParams::new(vec![]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        let file = dir.join(format!("{name}.pem"));
        std::fs::write(&file, issuer.pem()).expect("writable");
        CertificateAuthority { issuer, file }
    }

    /// Issues a certificate for this name. Returns the files of the certificate and its key.
    fn issue_certificate(&self, dir: &Path, name: &str) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let (cert, secret) = (dir.join(format!("{name}.crt")), dir.join(format!("{name}.key")));
        std::fs::write(&cert, certificate.pem()).expect("writable");
        std::fs::write(&secret, key.serialize_pem()).expect("writable");
        (cert, secret)
    }
}

/// Server with a network address and a certificate for `localhost`.
struct TlsServer {
    server: Server,
    port: u16,
    ours: CertificateAuthority,
    others: CertificateAuthority,
    /// Client certificate and key for the user `latch`.
    client: (PathBuf, PathBuf),
    _dir: tempfile::TempDir,
}

impl TlsServer {
    fn start() -> Option<TlsServer> {
        let dir = tempfile::tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
        let (ours, others) =
            (CertificateAuthority::new(dir.path(), "ours"), CertificateAuthority::new(dir.path(), "others"));
        let (cert, key) = ours.issue_certificate(dir.path(), "localhost");
        let client = ours.issue_certificate(dir.path(), "latch");
        hand_over(&key);
        // The kernel has just assigned this port, and does not assign the same port again soon. The server can
        // therefore use it.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
        let server = Server::start_with(&[
            &format!("port={port}"),
            "listen_addresses=localhost",
            "ssl=on",
            &format!("ssl_cert_file={}", cert.display()),
            &format!("ssl_key_file={}", key.display()),
            &format!("ssl_ca_file={}", ours.file.display()),
        ])?;
        Some(TlsServer { server, port, ours, others, client, _dir: dir })
    }

    /// Writes a line of `pg_hba.conf`. The line determines the connections that the server accepts over the network.
    fn allow_connections(&self, line: &str) {
        let file = self.server.data_dir().join("pg_hba.conf");
        std::fs::write(file, format!("local all all trust\n{line}\n")).expect("it is ours");
        block_on(sql(&self.server.url(), "SELECT pg_reload_conf()"));
    }

    fn url(&self, host: &str, more: &str) -> String {
        format!("postgres://latch@{host}:{}/postgres?{more}", self.port)
    }

    /// Runs `latch doctor` with this address.
    fn doctor(&self, place: &TestEnv, host: &str, more: &str) -> CommandOutput {
        place.fresh_copy().with_database(&self.url(host, more)).latch(&["doctor", "--json"])
    }

    /// Runs `latch job list` with this address.
    fn list_jobs(&self, place: &TestEnv, host: &str, more: &str) -> CommandOutput {
        let mut place = place.fresh_copy().with_database(&self.url(host, more));
        place.skip_replay_of_many_jobs();
        place.latch(&["job", "list", "--json"])
    }
}

fn database_check(ran: &CommandOutput) -> String {
    let report = ran.json();
    let checks = report["checks"].as_array().cloned().unwrap_or_default();
    checks.iter().find(|check| check["check"] == "database").map(|check| check["found"].to_string()).unwrap_or_default()
}

/// I87: a worker with `sslmode=verify-full` works on a server that accepts only encrypted sessions. A server
/// whose identity cannot be verified is refused.
#[test]
fn worker_uses_encrypted_sessions_and_refuses_unverified_servers() {
    let Some(encrypted) = TlsServer::start() else { return };
    encrypted.allow_connections("hostssl all all all trust");
    let template = TestEnv::witness("atomic");
    let full = format!("sslmode=verify-full&sslrootcert={}", encrypted.ours.file.display());
    let place = template.fresh_copy().with_database(&encrypted.url("localhost", &full));
    submit_detached(&place);
    let working = RunningWorker::start(&place, worker_command(&place, &[]));
    assert_eq!(resolve_until_over(&place, "encrypted"), 0);
    let sessions = "SELECT s.ssl, s.version FROM pg_stat_ssl s JOIN pg_stat_activity USING (pid) \
                    WHERE application_name = 'latchwork'";
    let rows = block_on(sql(&encrypted.server.url(), sessions));
    assert!(rows.len() >= 2, "the worker has a session for writes and one for notifications");
    for row in rows {
        let (is, version): (bool, Option<String>) = (row.get(0), row.get(1));
        assert_eq!((is, version.as_deref()), (true, Some("TLSv1.3")));
    }
    assert_eq!(working.stop().0, Some(0));
    let doctor = encrypted.doctor(&template, "localhost", &full);
    assert!(database_check(&doctor).contains("TLSv1.3"), "{}", doctor.stdout);

    // Each of these connections is refused, for one of four reasons: the client trusts only another authority, the host
    // name differs from the certificate, no authority is given, or the connection is not encrypted.
    let others = format!("sslrootcert={}", encrypted.others.file.display());
    let ours = format!("sslrootcert={}", encrypted.ours.file.display());
    for (host, more) in [
        ("localhost", format!("sslmode=verify-full&{others}")),
        ("localhost", format!("sslmode=verify-ca&{others}")),
        ("127.0.0.1", format!("sslmode=verify-full&{ours}")),
        ("localhost", "sslmode=verify-full".to_owned()),
        ("localhost", "sslmode=disable".to_owned()),
    ] {
        let refused = encrypted.list_jobs(&template, host, &more);
        let error = &refused.json()["error"];
        assert_eq!((refused.code, error["code"].as_str()), (1, Some("L0032")), "{host} {more}: {}", refused.stdout);
        let message = error["message"].to_string();
        assert!(more.contains("disable") || message.contains("sslrootcert"), "{host} {more}: {message}");
    }
    for (host, more) in [
        ("127.0.0.1", format!("sslmode=verify-ca&{ours}")),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("localhost", String::new()),
    ] {
        let doctor = encrypted.doctor(&template, host, &more);
        assert!(database_check(&doctor).contains("TLSv1.3"), "{host} {more}: {} {}", doctor.stdout, doctor.stderr);
    }
}

/// I87: the client presents a certificate to a server that requires client certificates.
#[test]
fn client_presents_its_certificate() {
    let Some(encrypted) = TlsServer::start() else { return };
    encrypted.allow_connections("hostssl all all all cert");
    let template = TestEnv::witness("atomic");
    let full = format!("sslmode=verify-full&sslrootcert={}", encrypted.ours.file.display());
    let (cert, key) = &encrypted.client;
    let parameters = format!("{full}&sslcert={}&sslkey={}", cert.display(), key.display());
    let place = template.fresh_copy().with_database(&encrypted.url("localhost", &parameters));
    assert_eq!(place.latch(&place.run_args()).code, 0);
    let refused = encrypted.list_jobs(&template, "localhost", &full);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "L0032", "{}", refused.stdout);
    assert!(error["message"].to_string().contains("certificate"), "{}", refused.stdout);
}
