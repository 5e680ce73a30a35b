//! The smallest HTTP client that talks to an emulator on loopback: one request, one connection.
//!
//! TLS, where it is needed, is the caller's stream.

use anyhow::{Context, Result, bail};
use std::{
    fmt::Write as _,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// Longer than any answer of an emulator; a hang must become an error.
const LIMIT: Duration = Duration::from_mins(1);

/// What came back.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body as text.
    pub body: String,
}

impl Reply {
    /// The reply if the status says success, else an error with the body.
    pub fn ok(self) -> Result<Self> {
        if !(200..300).contains(&self.status) {
            bail!("HTTP {}: {}", self.status, self.body);
        }
        Ok(self)
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.body).with_context(|| format!("not JSON: {}", self.body))
    }

    /// The text of the first XML element of this name.
    pub fn element(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
    }
}

/// Send a request to `http://host:port` and read the whole answer.
pub fn send(base: &str, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Reply> {
    let host = base.strip_prefix("http://").context("only http:// is spoken here")?;
    let mut stream = connect(host)?;
    exchange(&mut stream, (method, host, target), headers, body)
}

/// A connection whose reads end.
pub(crate) fn connect(host: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(host).with_context(|| format!("cannot reach {host}"))?;
    stream.set_read_timeout(Some(LIMIT))?;
    Ok(stream)
}

/// One request (method, host, target) and its answer over a connection that is used for nothing else.
pub(crate) fn exchange(
    stream: &mut (impl Read + Write),
    (method, host, target): (&str, &str, &str),
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<Reply> {
    // HTTP/1.0: the answer ends with the connection and is never chunked.
    let mut head = format!("{method} {target} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    parse(&String::from_utf8_lossy(&answer))
}

fn parse(answer: &str) -> Result<Reply> {
    let (head, body) = answer.split_once("\r\n\r\n").context("the connection ended within the headers")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status line")?;
    Ok(Reply { status, body: body.to_owned() })
}

/// Percent-encode everything that is not unreserved.
pub fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Undo percent-encoding; what is not an escape stays.
pub fn decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let escape = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escape.unwrap_or(b'%'));
        rest = if escape.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(decode("a%2Fb%3Bc%"), "a/b;c%");
        assert_eq!(decode("%C3%A4%zz"), "ä%zz");
    }
}
