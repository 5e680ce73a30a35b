//! An API server for tests, on loopback: answers each call by a function and keeps what was asked.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// One call: `GET /path`, what was said to be let in, and what was sent with its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) line: String,
    pub(super) authorization: String,
    pub(super) content: String,
    pub(super) body: String,
}

/// A running server; it ends with the test.
pub(super) struct Server {
    /// Its URL.
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

// === impl Server ===

impl Server {
    pub(super) async fn start(answer: impl Fn(&Asked) -> (u16, Json) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, answer) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::new(answer));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                tokio::spawn(serve(stream, kept, move |asked: &Asked| answer(asked)));
            }
        });
        Self { url, asked }
    }

    /// What was asked, in order.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The lines of [`Server::asked`], without queries.
    pub(super) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line.split('?').next().unwrap_or_default().to_owned()).collect()
    }
}

async fn serve(stream: TcpStream, kept: Arc<Mutex<Vec<Asked>>>, answer: impl Fn(&Asked) -> (u16, Json)) {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read(&mut stream).await {
        let (code, body) = answer(&asked);
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let body = body.to_string();
        let reply = format!(
            "HTTP/1.1 {code} Said\r\ndate: Fri, 01 Jan 2038 00:00:00 GMT\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

// One request; none where the client has gone.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (mut asked, mut length) = (Asked::default(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ") {
            None => line.trim_end_matches(" HTTP/1.1").clone_into(&mut asked.line),
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                value.clone_into(&mut asked.authorization);
            }
            Some((name, value)) if name.eq_ignore_ascii_case("content-type") => value.clone_into(&mut asked.content),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    Some(asked)
}
