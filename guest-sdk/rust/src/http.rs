//! Outgoing HTTP to granted servers: `http = [{ url = "https://api.example.com", methods = ["GET", "POST"] }]`.
//!
//! ```
//! use latchwork_guest::{http, testing::Host};
//!
//! let host = Host::new().http(|request| {
//!     assert_eq!(request.url(), "https://api.example.com/v1/rates");
//!     Ok(http::Response::new(200, vec![("content-type".into(), "text/plain".into())], b"1.07".to_vec()))
//! });
//! host.run(|| {
//!     let response = http::Request::get("https://api.example.com/v1/rates").send()?;
//!     assert_eq!((response.status(), response.text()), (200, "1.07".into()));
//!     Ok::<(), http::Error>(())
//! })?;
//! # Ok::<(), http::Error>(())
//! ```

use crate::data::http::Url;
use crate::host;

pub use crate::data::http::{Error, ErrorKind, Request, Response};

impl Request {
    /// Sends the request and reads the whole response. Every status, also 4xx and 5xx, is a response and not
    /// an error.
    pub fn send(&self) -> Result<Response, Error> {
        // Without this check, a native test would accept URLs that a component refuses.
        Url::parse(&self.url)?;
        host::net::send(self)
    }
}
