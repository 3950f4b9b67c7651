//! Actions of the script that use WASI 0.2.

use serde_json::{Value, json};
use wasip2::clocks::monotonic_clock;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags, filesystem_error_code};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, IncomingBody, Method, OutgoingBody, OutgoingRequest, Scheme};
use wasip2::io::poll::poll;
use wasip2::io::streams::StreamError;
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{IpAddress, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

fn error(text: impl std::fmt::Debug) -> Value {
    json!({ "error": format!("{text:?}") })
}

pub fn http(method: &str, url: &str, headers: &[(String, String)], body: Vec<String>) -> Value {
    try_http(method, url, headers, body).unwrap_or_else(|wrong| wrong)
}

/// Sends requests and reads no answer. Returns the error of the last request, or `pending` if it has none after some time.
pub fn requests(url: &str, count: u64) -> Value {
    let send = || {
        let request = outgoing("", url, &[])?;
        let body = request.body().map_err(|()| error("body"))?;
        let future = handle(request, None).map_err(error)?;
        OutgoingBody::finish(body, None).map_err(error)?;
        Ok(future)
    };
    let sent = (0..count).map(|_| send()).collect::<Result<Vec<_>, Value>>();
    let sent = match sent {
        Ok(sent) => sent,
        Err(wrong) => return wrong,
    };
    let last = sent.last().expect("at least one request");
    let pause = monotonic_clock::subscribe_duration(300_000_000);
    let answered = last.subscribe();
    poll(&[&pause, &answered]);
    match last.get() {
        None => json!("pending"),
        Some(Ok(Ok(_))) => json!("answered"),
        Some(Ok(Err(code))) => error(code),
        Some(Err(())) => error("taken twice"),
    }
}

fn outgoing(method: &str, url: &str, headers: &[(String, String)]) -> Result<OutgoingRequest, Value> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| error("no scheme"))?;
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let fields = Fields::new();
    for (name, value) in headers {
        fields.append(name, value.as_bytes()).map_err(error)?;
    }
    let request = OutgoingRequest::new(fields);
    let scheme = if scheme == "https" { Scheme::Https } else { Scheme::Http };
    let method = match method {
        "" | "GET" => Method::Get,
        "POST" => Method::Post,
        other => Method::Other(other.to_owned()),
    };
    request.set_method(&method).map_err(|()| error("method"))?;
    request.set_scheme(Some(&scheme)).map_err(|()| error("scheme"))?;
    request.set_authority(Some(authority)).map_err(|()| error("authority"))?;
    request.set_path_with_query(Some(path)).map_err(|()| error("path"))?;
    Ok(request)
}

fn try_http(method: &str, url: &str, headers: &[(String, String)], body: Vec<String>) -> Result<Value, Value> {
    let request = outgoing(method, url, headers)?;
    let outgoing = request.body().map_err(|()| error("body"))?;
    let future = handle(request, None).map_err(error)?;
    if !body.is_empty() {
        let stream = outgoing.write().map_err(|()| error("body stream"))?;
        for piece in body {
            stream.blocking_write_and_flush(piece.as_bytes()).map_err(error)?;
        }
        drop(stream);
    }
    OutgoingBody::finish(outgoing, None).map_err(error)?;
    future.subscribe().block();
    let response = future.get().expect("it is ready").expect("taken once").map_err(error)?;
    let status = response.status();
    let location = response.headers().get("location").first().map(|text| String::from_utf8_lossy(text).into_owned());
    let incoming = response.consume().map_err(|()| error("response body"))?;
    let stream = incoming.stream().map_err(|()| error("response stream"))?;
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(65_536) {
            Ok(more) => bytes.extend(more),
            Err(StreamError::Closed) => break,
            Err(wrong) => return Err(error(wrong)),
        }
    }
    drop(stream);
    drop(IncomingBody::finish(incoming));
    Ok(json!({ "status": status, "location": location, "body": String::from_utf8_lossy(&bytes) }))
}

fn directory(path: &str) -> Result<(Descriptor, String), Value> {
    get_directories()
        .into_iter()
        .find_map(|(directory, guest)| {
            let rest = path.strip_prefix(&guest)?.trim_start_matches('/').to_owned();
            Some((directory, rest))
        })
        .ok_or_else(|| error("no such directory"))
}

pub fn write(path: &str, text: &str) -> Value {
    let write = || {
        let (directory, path) = directory(path)?;
        let open = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let file = directory
            .open_at(PathFlags::empty(), &path, open, DescriptorFlags::WRITE | DescriptorFlags::READ)
            .map_err(error)?;
        file.write(text.as_bytes(), 0).map_err(error).map(|len| json!(len))
    };
    write().unwrap_or_else(|wrong| wrong)
}

/// Reads a file. With `follow`, the path may end in a symbolic link.
pub fn read(path: &str, follow: bool) -> Value {
    let read = || {
        let (directory, path) = directory(path)?;
        let flags = if follow { PathFlags::SYMLINK_FOLLOW } else { PathFlags::empty() };
        let file = directory.open_at(flags, &path, OpenFlags::empty(), DescriptorFlags::READ).map_err(error)?;
        let (bytes, _) = file.read(65_536, 0).map_err(error)?;
        Ok(json!(String::from_utf8_lossy(&bytes)))
    };
    read().unwrap_or_else(|wrong: Value| wrong)
}

/// Makes a new file longer in pieces of this many bytes, until the host refuses one. Returns the number of pieces
/// and the error. `how` is the function that makes the file longer.
pub fn fill(path: &str, how: &str, bytes: u64) -> Value {
    const PIECES: u64 = 1_000;
    let made = || {
        let (directory, path) = directory(path)?;
        let open = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let flags = DescriptorFlags::WRITE | DescriptorFlags::READ;
        let file = directory.open_at(PathFlags::empty(), &path, open, flags).map_err(error)?;
        let piece = vec![b'x'; bytes as usize];
        let stream = match how {
            "stream" => Some(file.write_via_stream(0).map_err(error)?),
            "append" => Some(file.append_via_stream().map_err(error)?),
            _ => None,
        };
        for number in 0..PIECES {
            let wrong = match &stream {
                Some(stream) => match stream.blocking_write_and_flush(&piece) {
                    Err(StreamError::LastOperationFailed(wrong)) => {
                        Some(format!("{:?}", filesystem_error_code(&wrong)))
                    }
                    Err(closed) => Some(format!("{closed:?}")),
                    Ok(()) => None,
                },
                None => {
                    let done = match how {
                        "size" => file.set_size((number + 1) * bytes),
                        // Leaves gaps, so that each piece makes the file longer by its whole length.
                        "gap" => file.write(b"x", (number + 1) * bytes - 1).map(|_| ()),
                        "again" => file.write(&piece, 0).map(|_| ()),
                        _ => file.write(&piece, number * bytes).map(|_| ()),
                    };
                    done.err().map(|wrong| format!("{wrong:?}"))
                }
            };
            if wrong.is_some() {
                return Ok(json!({ "made": number, "error": wrong }));
            }
        }
        Ok(json!({ "made": PIECES, "error": null }))
    };
    made().unwrap_or_else(|wrong: Value| wrong)
}

/// Makes empty files, folders and links by turns until the host refuses one.
pub fn entries(path: &str, count: u64) -> Value {
    let (directory, path) = match directory(path) {
        Ok(found) => found,
        Err(wrong) => return wrong,
    };
    for number in 0..count {
        let path = format!("{path}{number}");
        let made = match number % 3 {
            0 => directory
                .open_at(PathFlags::empty(), &path, OpenFlags::CREATE, DescriptorFlags::WRITE)
                .map(|file| drop(file)),
            1 => directory.create_directory_at(&path),
            _ => directory.symlink_at("target", &path),
        };
        if let Err(wrong) = made {
            return json!({ "made": number, "error": format!("{wrong:?}") });
        }
    }
    json!({ "made": count, "error": null })
}

/// Sends a request, and returns whether its answer is there at once.
pub fn ready(url: &str) -> Value {
    let ready = || {
        let request = outgoing("GET", url, &[])?;
        let body = request.body().map_err(|()| error("body"))?;
        let future = handle(request, None).map_err(error)?;
        OutgoingBody::finish(body, None).map_err(error)?;
        Ok(json!(future.subscribe().ready()))
    };
    ready().unwrap_or_else(|wrong: Value| wrong)
}

/// Opens a file several times and keeps it open. Returns how often it was opened, and the first error.
pub fn open(path: &str, count: u64) -> Value {
    let (directory, path) = match directory(path) {
        Ok(found) => found,
        Err(wrong) => return wrong,
    };
    let one = || directory.open_at(PathFlags::empty(), &path, OpenFlags::empty(), DescriptorFlags::READ);
    keep(count, one)
}

/// Lists a directory several times and keeps the listings.
pub fn list(path: &str, count: u64) -> Value {
    match directory(path) {
        Ok((directory, _)) => keep(count, || directory.read_directory()),
        Err(wrong) => wrong,
    }
}

/// Creates sockets and keeps them.
pub fn sockets(count: u64) -> Value {
    keep(count, || create_tcp_socket(IpAddressFamily::Ipv4))
}

/// Starts lookups of a name and keeps them.
pub fn lookups(host: &str, count: u64) -> Value {
    let network = instance_network();
    keep(count, || resolve_addresses(&network, host))
}

/// Sends requests whose address has no path, which the host refuses. Returns how many it refused.
pub fn pathless(count: u64) -> Value {
    let is_refused = || {
        let request = OutgoingRequest::new(Fields::new());
        request.set_authority(Some("127.0.0.1:1")).expect("an authority");
        handle(request, None).is_err()
    };
    json!((0..count).filter(|_| is_refused()).count())
}

/// Creates sets of header fields and keeps them.
pub fn fields(count: u64) -> Value {
    keep(count, || Ok::<_, ()>(Fields::new()))
}

/// Creates a header field with a value of this length.
pub fn field(bytes: u64) -> Value {
    let fields = Fields::new();
    fields.append("x", &vec![b'x'; bytes as usize]).map_or_else(error, |()| json!(true))
}

/// Makes things that the guest holds until its end.
fn keep<T, E: std::fmt::Debug>(count: u64, make: impl Fn() -> Result<T, E>) -> Value {
    let mut first = None;
    let mut made = 0;
    for _ in 0..count {
        match make() {
            Ok(thing) => {
                std::mem::forget(thing);
                made += 1;
            }
            Err(wrong) => {
                first.get_or_insert(format!("{wrong:?}"));
            }
        }
    }
    json!({ "made": made, "error": first })
}

pub fn tcp(host: &str, port: u16, text: &str) -> Value {
    try_tcp(host, port, text).unwrap_or_else(|wrong| wrong)
}

fn try_tcp(host: &str, port: u16, text: &str) -> Result<Value, Value> {
    let network = instance_network();
    let octets: Vec<u8> = host.split('.').filter_map(|part| part.parse().ok()).collect();
    let address = match octets[..] {
        [a, b, c, d] => (a, b, c, d),
        _ => {
            let stream = resolve_addresses(&network, host).map_err(error)?;
            loop {
                stream.subscribe().block();
                match stream.resolve_next_address().map_err(error)? {
                    Some(IpAddress::Ipv4(address)) => break address,
                    Some(_) => {}
                    None => return Err(error("no address")),
                }
            }
        }
    };
    let socket = create_tcp_socket(IpAddressFamily::Ipv4).map_err(error)?;
    let remote = IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address });
    socket.start_connect(&network, remote).map_err(error)?;
    socket.subscribe().block();
    let (input, output) = socket.finish_connect().map_err(error)?;
    output.blocking_write_and_flush(text.as_bytes()).map_err(error)?;
    let answer = input.blocking_read(1_024).map_err(error)?;
    Ok(json!(String::from_utf8_lossy(&answer)))
}

pub fn print(text: &str) {
    let line = format!("{text}\n");
    wasip2::cli::stdout::get_stdout().blocking_write_and_flush(line.as_bytes()).expect("stdout takes it");
}

pub fn sleep(ms: u64) {
    monotonic_clock::subscribe_duration(ms * 1_000_000).block();
}
