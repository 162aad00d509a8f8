//! Servers of the test itself, which do what a real one does not.

use std::future::{self, Future};

use bytes::{Buf, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use prost::Message;
use sidecheck::stubs::sidecheck::v1 as pb;
use tokio::net::{TcpListener, TcpStream};

/// Bytes before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Starts a server that answers `GetServerInfo`, and all other calls with `respond`. It stops
/// with the test's runtime.
pub async fn serve<F, R>(respond: F) -> String
where
    F: Fn(Call) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::spawn(serve_connection(socket, respond.clone()));
        }
    });
    address
}

pub async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Serves one connection until the client closes it.
pub async fn serve_connection<F, R>(socket: TcpStream, respond: F)
where
    F: Fn(Call) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let mut connection = h2::server::handshake(socket).await.unwrap();
    while let Some(Ok((request, response))) = connection.accept().await {
        let mut call = Call::new(request, response);
        if call.path.ends_with("/GetServerInfo") {
            call.send(&server_info());
            call.end("0", None);
        } else {
            tokio::spawn(respond.clone()(call));
        }
    }
}

/// One call of a client.
pub struct Call {
    pub path: String,
    pub authorization: Option<String>,
    requests: RecvStream,
    received: BytesMut,
    response: SendResponse<Bytes>,
    stream: Option<SendStream<Bytes>>,
}

impl Call {
    fn new(request: Request<RecvStream>, response: SendResponse<Bytes>) -> Self {
        let authorization = request.headers().get("authorization");
        Self {
            authorization: authorization.map(|value| value.to_str().unwrap().to_owned()),
            path: request.uri().path().to_owned(),
            requests: request.into_body(),
            received: BytesMut::new(),
            response,
            stream: None,
        }
    }

    /// The next message of the client; none once it has ended them or cancelled the call.
    pub async fn receive<M: Message + Default>(&mut self) -> Option<M> {
        loop {
            if self.received.len() >= PREFIX {
                let length = (&self.received[1..]).get_u32() as usize;
                if self.received.len() >= PREFIX + length {
                    self.received.advance(PREFIX);
                    return Some(M::decode(self.received.split_to(length)).unwrap());
                }
            }
            let data = self.requests.data().await?.ok()?;
            self.requests
                .flow_control()
                .release_capacity(data.len())
                .unwrap();
            self.received.extend_from_slice(&data);
        }
    }

    /// Sends a message, after the headers if it is the first.
    pub fn send<M: Message>(&mut self, message: &M) {
        let mut data = BytesMut::new();
        data.extend_from_slice(&[0]);
        data.extend_from_slice(&(message.encoded_len() as u32).to_be_bytes());
        message.encode(&mut data).unwrap();
        self.open().send_data(data.freeze(), false).unwrap();
    }

    fn open(&mut self) -> &mut SendStream<Bytes> {
        let response = &mut self.response;
        self.stream.get_or_insert_with(|| {
            let headers = Response::builder().header("content-type", "application/grpc");
            response
                .send_response(headers.body(()).unwrap(), false)
                .unwrap()
        })
    }

    /// Waits until the client cancels the call.
    pub async fn is_left(&mut self) {
        let stream = self.open();
        // Its connection may be lost instead.
        let _ = future::poll_fn(|context| stream.poll_reset(context)).await;
    }

    /// Ends the call with a status, and with details as they stand.
    pub fn end(mut self, status: &'static str, details: Option<&'static str>) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static(status));
        if let Some(details) = details {
            trailers.insert("grpc-status-details-bin", HeaderValue::from_static(details));
        }
        // It fails if the client has left.
        let _ = self.open().send_trailers(trailers);
    }

    /// Ends the call with a status, and with the delay of the next attempt in milliseconds.
    pub fn push_back(mut self, status: &'static str, delay: &'static str) {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static(status));
        trailers.insert("grpc-retry-pushback-ms", HeaderValue::from_static(delay));
        let _ = self.open().send_trailers(trailers);
    }

    /// Ends the call with headers only.
    pub fn end_in_headers(mut self, status: &str, details: &str) {
        let headers = Response::builder()
            .header("content-type", "application/grpc")
            .header("grpc-status", status)
            .header("grpc-status-details-bin", details);
        self.response
            .send_response(headers.body(()).unwrap(), true)
            .unwrap();
    }

    /// Responds with a page, as a proxy does.
    pub fn send_page(mut self, status: u16) {
        let headers = Response::builder()
            .status(status)
            .header("content-type", "text/html");
        let mut stream = self
            .response
            .send_response(headers.body(()).unwrap(), false)
            .unwrap();
        stream
            .send_data(Bytes::from_static(b"<html></html>"), true)
            .unwrap();
    }

    pub fn reset(mut self, reason: Reason) {
        self.response.send_reset(reason);
    }

    /// Responds to each item with its id, or with what `change` makes of it.
    pub async fn echo_items(mut self, change: impl Fn(String) -> String) {
        while let Some(request) = self.receive::<pb::ValidateStreamRequest>().await {
            use pb::validate_stream_request::Message;
            if let Some(Message::Item(item)) = request.message {
                self.send(&response(&change(item.id)));
            }
        }
        self.end("0", None);
    }

    /// Responds with a valid verdict.
    pub fn validate(mut self) {
        self.send(&pb::ValidateResponse {
            verdict: Some(valid()),
            ..Default::default()
        });
        self.end("0", None);
    }
}

/// The response to an item, with a valid verdict.
pub fn response(id: &str) -> pb::ValidateStreamResponse {
    pb::ValidateStreamResponse {
        id: id.to_owned(),
        outcome: Some(pb::ValidateOutcome {
            outcome: Some(pb::validate_outcome::Outcome::Verdict(valid())),
        }),
        ..Default::default()
    }
}

fn valid() -> pb::Verdict {
    pb::Verdict {
        valid: true,
        enforced: true,
        ..Default::default()
    }
}

fn server_info() -> pb::GetServerInfoResponse {
    pb::GetServerInfoResponse {
        limits: Some(pb::Limits {
            message_bytes: 1 << 20,
            batch_items: 100,
            ..Default::default()
        }),
        ..Default::default()
    }
}
