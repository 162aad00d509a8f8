//! Tokens, against a real server that requires them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sidecheck::{
    CheckOptions, Client, ClientOptions, Code, Error, ErrorKind, OnUnavailable, Options,
    ProtocolContext, Schema, Sender, SessionOptions, StreamOptions, Subject, Target, Token,
};
use tokio::process::{Child, Command};

use crate::PATIENCE;
use crate::server::start;
use crate::settings::settings;
use crate::stand_in::serve;

/// A server with two tokens, which have one role each.
struct Server {
    _process: Child,
    address: String,
    validator: String,
    registrar: String,
    tokens_file: PathBuf,
}

impl Server {
    async fn start(settings: &Value, name: &str) -> Self {
        let (validator, entry) = new_token(settings, "validate").await;
        let (registrar, other) = new_token(settings, "register").await;
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let tokens_file = folder.join(format!("{name}-{}.toml", std::process::id()));
        std::fs::write(&tokens_file, entry + &other).unwrap();
        let environment = [("SIDECHECK_TOKENS_FILE", tokens_file.to_str().unwrap())];
        let (process, address) = start(settings, "127.0.0.1:0", &environment).await;
        Self {
            _process: process,
            address,
            validator,
            registrar,
            tokens_file,
        }
    }

    fn client(&self, token: Option<Token>) -> Client {
        let options = ClientOptions {
            timeout: PATIENCE,
            // No answer that a token is wrong may let a payload pass.
            on_unavailable: OnUnavailable::Allow,
            token,
            ..ClientOptions::default()
        };
        Client::new(&self.address, options).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.tokens_file);
    }
}

/// A token with a role, and its entry in the file.
async fn new_token(settings: &Value, role: &str) -> (String, String) {
    let words = settings["serve"].as_array().unwrap().iter();
    let mut command = words
        .map(|word| word.as_str().unwrap())
        .take_while(|word| *word != "serve");
    let output = Command::new(command.next().unwrap())
        .args(command)
        .args(["token", "new", role, "--role", role])
        .output()
        .await
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    let mut words = text.split_whitespace();
    let token = words.find(|word| word.starts_with("sct_")).unwrap();
    (token.to_owned(), String::from_utf8(output.stdout).unwrap())
}

async fn validate(client: &Client) -> Result<bool, Error> {
    let schema = Schema::new(json!({"type": "object"}));
    let options = Options::default();
    Ok(client.validate(schema, json!([]), &options).await?.valid)
}

#[tokio::test]
async fn calls_streams_and_sessions_carry_the_token() {
    let Some(settings) = settings() else {
        return;
    };
    let server = Server::start(&settings, "carried").await;
    let client = server.client(Some(server.validator.as_str().into()));
    assert!(!validate(&client).await.unwrap());

    let target = Target::from(Schema::new(json!({"type": "object"})));
    let (mut sender, mut outcomes) = client
        .stream(
            Some(&target),
            &Options::default(),
            &StreamOptions::default(),
        )
        .await
        .unwrap();
    let arguments = Subject::Arguments(json!([]).into());
    sender.send("a", arguments).await.unwrap();
    let outcome = outcomes.next().await.unwrap().unwrap();
    assert!(!outcome.outcome.unwrap().valid);

    let (context, options) = (ProtocolContext::default(), CheckOptions::default());
    let session = client
        .protocol()
        .session(&context, &options, &SessionOptions::default())
        .await
        .unwrap();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    session.check(ping, Sender::Client, None).await.unwrap();
    session.finish().await.unwrap();
}

#[tokio::test]
async fn a_function_gives_the_token_of_each_call() {
    let Some(settings) = settings() else {
        return;
    };
    let server = Server::start(&settings, "function").await;
    let (calls, validator) = (AtomicUsize::new(0), server.validator.clone());
    let client = server.client(Some(Token::from_fn(move || {
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => "old".to_owned(),
            1 => validator.clone(),
            _ => "bad token".to_owned(),
        }
    })));
    let error = validate(&client).await.unwrap_err();
    assert_eq!(error.reason(), "UNAUTHENTICATED");
    assert!(!validate(&client).await.unwrap());
    let error = validate(&client).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidArgument);
    assert!(!error.to_string().contains("bad token"));
}

#[tokio::test]
async fn calls_without_a_valid_token_or_its_role_are_rejected() {
    let Some(settings) = settings() else {
        return;
    };
    let server = Server::start(&settings, "refused").await;
    for token in [None, Some(Token::from("sct_wrong"))] {
        let client = server.client(token);
        let error = validate(&client).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Request);
        assert_eq!(error.reason(), "UNAUTHENTICATED");
        assert_eq!(error.code(), Code::Unauthenticated);
        assert!(!format!("{error} {error:?}").contains("sct_wrong"));
    }

    let client = server.client(Some(server.registrar.clone().into()));
    let error = validate(&client).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Request);
    assert_eq!(error.reason(), "PERMISSION_DENIED");
    assert_eq!(error.code(), Code::PermissionDenied);
}

#[tokio::test]
async fn a_stream_whose_token_was_replaced_is_rejected() {
    let Some(settings) = settings() else {
        return;
    };
    let server = Server::start(&settings, "replaced").await;
    // A stream asks for the limits of the server first.
    let (calls, validator) = (AtomicUsize::new(0), server.validator.clone());
    let client = server.client(Some(Token::from_fn(move || {
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => validator.clone(),
            _ => "old".to_owned(),
        }
    })));
    let target = Target::from(Schema::new(json!(true)));
    let (_sender, mut outcomes) = client
        .stream(
            Some(&target),
            &Options::default(),
            &StreamOptions::default(),
        )
        .await
        .unwrap();
    let error = outcomes.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::StreamClosed(Vec::new()));
    assert_eq!(error.reason(), "UNAUTHENTICATED");
}

#[tokio::test]
async fn rejections_are_not_retried_and_attempts_share_a_token() {
    for status in ["7", "16"] {
        let attempts = Arc::new(AtomicUsize::new(0));
        let asked = Arc::new(AtomicUsize::new(0));
        let (attempt, ask) = (Arc::clone(&attempts), Arc::clone(&asked));
        let address = serve(move |call| {
            let first = attempt.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                assert_eq!(call.authorization.as_deref(), Some("Bearer 1"));
                call.end(if first { "14" } else { status }, None);
            }
        });
        let token = Token::from_fn(move || (ask.fetch_add(1, Ordering::SeqCst) + 1).to_string());
        let options = ClientOptions {
            timeout: PATIENCE,
            token: Some(token),
            ..ClientOptions::default()
        };
        let client = Client::new(&address.await, options).unwrap();
        validate(&client).await.unwrap_err();
        assert_eq!(attempts.load(Ordering::SeqCst), 2);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}

fn construct(address: &str, token: &str, token_without_tls: bool) -> Result<Client, Error> {
    let options = ClientOptions {
        token: Some(token.into()),
        token_without_tls,
        ..ClientOptions::default()
    };
    Client::new(address, options)
}

#[tokio::test]
async fn a_token_needs_tls_beyond_this_machine() {
    for address in [
        "127.0.0.1:1",
        "127.8.8.8:1",
        "[::1]:1",
        "[::ffff:127.0.0.1]:1",
        "LocalHost:1",
        "dns:///localhost:1",
        "unix:/run/sidecheck.sock",
    ] {
        assert!(construct(address, "secret", false).is_ok(), "{address}");
    }
    for address in [
        "sidecheck:1",
        "dns:///sidecheck:1",
        "localhost.example:1",
        "192.0.2.1:1",
        "[2001:db8::1]:1",
        "0.0.0.0:1",
    ] {
        let error = construct(address, "secret", false).err().unwrap();
        assert_eq!(error.kind(), &ErrorKind::InvalidArgument, "{address}");
        assert!(error.message().contains("in plain text"), "{error}");
        assert!(!error.to_string().contains("secret"));
        assert!(construct(address, "secret", true).is_ok(), "{address}");
        #[cfg(feature = "tls")]
        {
            let options = ClientOptions {
                token: Some("secret".into()),
                tls: Some(sidecheck::Tls::default()),
                ..ClientOptions::default()
            };
            assert!(Client::new(address, options).is_ok(), "{address}");
        }
    }
}

#[tokio::test]
async fn a_malformed_token_is_rejected_without_its_text() {
    for token in ["", "secret ", "secret\n", "sécret"] {
        let error = construct("localhost:1", token, false).err().unwrap();
        assert_eq!(error.kind(), &ErrorKind::InvalidArgument);
        assert!(!format!("{error:?}").contains("cret"), "{error}");
    }
}
