//! Rights of tools in every mode: what arrives at a server, at a TCP listener, in a folder and in a map, for every class
//! of operator. Module `rights` has the methods and forms of HTTP grants.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::plugins::built_guests::guest;
use crate::support::program::{CommandOutput, command_output, latch_command};
use crate::support::servers::http::TestServer;
use crate::support::test_env::{TestEnv, step};

const CANARY: &str = "tok-canary-55ab";

/// Classes of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Read,
    Pure,
    Internal,
    External,
}

const OPERATORS: [(&str, &str, Class); 7] = [
    ("look", "World.Look", Class::Read),
    ("pure", "World.Pure", Class::Pure),
    ("model", "World.Model", Class::Read),
    ("outcome", "World.Outcome", Class::Read),
    ("keep", "World.Keep", Class::Internal),
    ("write", "World.Write", Class::External),
    ("send", "World.Change", Class::External),
];

/// Kinds of access that an operator tries: a request of a method, a request with a secret, TCP, a file, a key of its map.
const KINDS: [&str; 7] = ["get", "query", "post", "secret", "tcp", "file", "key"];

/// Conditions of a job: its mode, its policy, and whether its external calls are approved.
struct Conditions {
    mode: &'static str,
    policy: &'static str,
    is_approved: bool,
    /// Classes whose calls are made.
    made: &'static [Class],
}

const TRUSTING: &str = "auto_exec = true\nauto_exec_min_trust = 0\n";
const NO_TRUST: &str = "auto_exec = true\n";
const GATES_ALL: &str = "gate = { effects = [\"internal_write\", \"external_write\", \"external_send\"] }\n";
const READS: &[Class] = &[Class::Read, Class::Pure];
const INSIDE: &[Class] = &[Class::Read, Class::Pure, Class::Internal];
const ALL: &[Class] = &[Class::Read, Class::Pure, Class::Internal, Class::External];

const CONDITIONS: [Conditions; 8] = [
    Conditions { mode: "DRY_RUN", policy: TRUSTING, is_approved: true, made: READS },
    Conditions { mode: "DRAFT_ONLY", policy: TRUSTING, is_approved: true, made: INSIDE },
    Conditions { mode: "DRAFT_ONLY", policy: GATES_ALL, is_approved: false, made: READS },
    Conditions { mode: "HUMAN_GATED", policy: TRUSTING, is_approved: false, made: INSIDE },
    Conditions { mode: "HUMAN_GATED", policy: GATES_ALL, is_approved: false, made: READS },
    Conditions { mode: "HUMAN_GATED", policy: "", is_approved: true, made: ALL },
    Conditions { mode: "AUTO_EXEC", policy: NO_TRUST, is_approved: false, made: INSIDE },
    Conditions { mode: "AUTO_EXEC", policy: TRUSTING, is_approved: false, made: ALL },
];

/// Returns true if a call of this class may reach this kind of thing. The grants name everything.
fn is_granted(class: Class, kind: &str) -> bool {
    match kind {
        "get" | "query" => true,
        "secret" => class != Class::Pure,
        "file" | "key" => matches!(class, Class::Internal | Class::External),
        _ => class == Class::External,
    }
}

/// Listener that collects the lines that it receives.
struct Listener {
    port: u16,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    /// The thread runs until the process ends.
    fn start() -> Listener {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, lines) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let kept = lines.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut bytes = [0; 100];
                let count = stream.read(&mut bytes).unwrap_or(0);
                // An empty line stands for a connection without data.
                kept.lock().unwrap().push(String::from_utf8_lossy(&bytes[..count]).into_owned());
                let _ = stream.write_all(b"ok");
            }
        });
        Listener { port, lines }
    }
}

/// A place with everything that a tool can reach.
struct World {
    place: TestEnv,
    server: TestServer,
    tcp: Listener,
}

impl World {
    fn new(policy: &str) -> World {
        let (server, tcp) = (TestServer::start(), Listener::start());
        let url = format!("http://127.0.0.1:{}", server.port);
        let config = format!(
            "[policy.default]\nmodes = [\"DRY_RUN\", \"DRAFT_ONLY\", \"HUMAN_GATED\", \"AUTO_EXEC\"]\n{policy}\n\
             [[plugin]]\nname = \"world\"\nsource = {:?}\n[plugin.grants]\n\
             http = [{{ url = {url:?}, methods = [\"GET\", \"POST\"], secrets = [\"TOKEN\"] }}]\n\
             tcp = [\"127.0.0.1:{}\"]\nkv = \"m\"\n\
             dirs = [{{ host = \"d\", guest = \"/d\", write = true }}]\n",
            guest("hostile-tool"),
            tcp.port,
        );
        let place = TestEnv::configured(&config, vec![]);
        std::fs::create_dir(place.dir.join("d")).unwrap();
        World { place, server, tcp }
    }

    /// Returns the action that tries to reach a thing. What arrives has the name `id`.
    fn action(&self, kind: &str, id: &str) -> Vec<Value> {
        let url = self.server.url(&format!("/{id}"));
        let http = |method: &str, more: &str| json!({ "http": { "method": method, "url": format!("{url}{more}") } });
        match kind {
            "get" => vec![http("GET", "")],
            "query" => vec![http("GET", "?q=1")],
            "post" => vec![http("POST", "")],
            "secret" => vec![
                json!({ "secret": "TOKEN" }),
                json!({ "http": { "url": url, "headers": { "authorization": "Bearer $TOKEN" } } }),
            ],
            "tcp" => vec![json!({ "tcp": { "host": "127.0.0.1", "port": self.tcp.port, "text": id } })],
            "file" => vec![json!({ "write": { "path": format!("/d/{id}"), "text": "x" } })],
            _ => vec![json!({ "kv-set": { "key": id, "value": "x" } })],
        }
    }

    fn latch(&self, args: &[&str]) -> CommandOutput {
        let mut command = latch_command(&self.place.dir, args);
        command_output(command.env("LATCH_SECRET_TOKEN", CANARY).output().unwrap())
    }

    /// Returns the names of everything that arrived anywhere. `ids` are the names of keys that are looked up.
    fn arrived(&self, ids: &[String]) -> BTreeSet<String> {
        let requests = self.server.requests();
        let name = |line: &str| {
            let path = line.split(' ').nth(1).unwrap_or_default();
            path.trim_start_matches('/').split('?').next().unwrap_or_default().to_owned()
        };
        let has_secret = |header: Option<&str>| header == Some(&*format!("Bearer {CANARY}"));
        let of_server = requests.iter().map(|request| (name(&request.line), request.header("authorization")));
        // A request for a secret counts only with its value.
        let of_server = of_server.filter(|(id, header)| !id.ends_with("-secret") || has_secret(*header));
        let mut all: Vec<String> = of_server.map(|(id, _)| id).collect();
        all.extend(self.tcp.lines.lock().unwrap().iter().cloned());
        let files = std::fs::read_dir(self.place.dir.join("d")).unwrap();
        all.extend(files.map(|file| file.unwrap().file_name().into_string().unwrap()));
        all.extend(self.keys(ids));
        let set: BTreeSet<String> = all.iter().cloned().collect();
        assert_eq!(set.len(), all.len(), "each thing arrives once: {all:?}");
        set
    }

    /// Returns the keys in the map.
    fn keys(&self, ids: &[String]) -> Vec<String> {
        let keys: Vec<&String> = ids.iter().filter(|id| id.ends_with("-key")).collect();
        let gets: Vec<Value> = keys.iter().map(|id| json!({ "kv-get": { "key": id } })).collect();
        let plan = json!({ "plan_id": "keys", "schema_version": "1.0",
            "steps": [step("keys", "World.Look", &[], json!({ "do": gets }))] });
        std::fs::write(self.place.dir.join("keys.json"), plan.to_string()).unwrap();
        let ran = self.latch(&["run", "keys.json", "--json", "--mode", "DRY_RUN"]);
        let found = ran.json()["outputs"]["keys"].as_array().unwrap_or_else(|| panic!("{}", ran.stdout)).clone();
        let present = keys.into_iter().zip(found).filter(|(_, value)| !value.is_null());
        present.map(|(id, _)| id.clone()).collect()
    }
}

/// I197, I42: in every mode and under every policy, exactly those things arrive that the class of the operator, the
/// grants, the mode and the approvals allow.
#[test]
fn only_allowed_things_arrive_in_each_mode() {
    for conditions in CONDITIONS {
        let world = World::new(conditions.policy);
        let Conditions { mode, made, .. } = conditions;
        let mut steps = Vec::new();
        let mut wanted = BTreeSet::new();
        let mut approved = Vec::new();
        for (short, operator, class) in OPERATORS {
            for kind in KINDS {
                let id = format!("{short}-{kind}");
                steps.push(step(&id, operator, &[], json!({ "do": world.action(kind, &id) })));
                if made.contains(&class) && is_granted(class, kind) {
                    wanted.insert(id.clone());
                }
                if class == Class::External && conditions.is_approved {
                    approved.extend(["--approve".to_owned(), id]);
                }
            }
        }
        let plan = json!({ "plan_id": "all", "schema_version": "1.0", "steps": steps });
        std::fs::write(world.place.dir.join("plan.json"), plan.to_string()).unwrap();
        let mut args = vec!["run", "plan.json", "--json", "--mode", mode];
        args.extend(approved.iter().map(String::as_str));
        let ran = world.latch(&args);
        let ids: Vec<String> = steps.iter().map(|step| step["step_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(world.arrived(&ids), wanted, "{mode} {}: {} {}", conditions.policy, ran.stdout, ran.stderr);
    }
}

/// Runs a job whose call of `operator` is undone, because another step fails. Returns the names of what arrived while
/// the call was undone.
fn arrived_while_undone(operator: &str, mode: &str, policy: &str, approve: &[&str]) -> BTreeSet<String> {
    let world = World::new(policy);
    let ids: Vec<String> = KINDS.map(|kind| format!("undo-{kind}")).to_vec();
    let undo: Vec<Value> = KINDS.iter().zip(&ids).flat_map(|(kind, id)| world.action(kind, id)).collect();
    let steps = [
        step("a", operator, &[], json!({ "do": [], "undo": undo })),
        step("b", "World.Look", &["a"], json!({ "do": ["trap"] })),
    ];
    let plan = json!({ "plan_id": "undo", "schema_version": "1.0", "on_failure": "compensate", "steps": steps });
    std::fs::write(world.place.dir.join("plan.json"), plan.to_string()).unwrap();
    let approve = approve.iter().flat_map(|id| ["--approve", id]);
    let args: Vec<&str> = ["run", "plan.json", "--json", "--mode", mode].into_iter().chain(approve).collect();
    let ran = world.latch(&args);
    assert_ne!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    world.arrived(&ids)
}

/// I197: `compensate` has the rights of its operator, and needs an approval where the call needed one.
#[test]
fn compensate_reaches_what_its_operator_may_reach() {
    let names = |kinds: &[&str]| kinds.iter().map(|kind| format!("undo-{kind}")).collect::<BTreeSet<_>>();
    let inside = names(&["get", "query", "secret", "file", "key"]);
    for mode in ["DRAFT_ONLY", "HUMAN_GATED", "AUTO_EXEC"] {
        assert_eq!(arrived_while_undone("World.Keep", mode, TRUSTING, &[]), inside, "{mode}");
    }
    for operator in ["World.Change", "World.Write"] {
        assert_eq!(arrived_while_undone(operator, "AUTO_EXEC", TRUSTING, &[]), names(&KINDS), "{operator}");
        let gated = arrived_while_undone(operator, "HUMAN_GATED", "", &["a"]);
        assert_eq!(gated, BTreeSet::new(), "{operator}: the undoing call waits for an approval of its own");
        for mode in ["DRY_RUN", "DRAFT_ONLY"] {
            assert_eq!(arrived_while_undone(operator, mode, TRUSTING, &["a"]), BTreeSet::new(), "{operator} {mode}");
        }
    }
}
