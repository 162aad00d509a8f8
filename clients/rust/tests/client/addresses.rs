//! Host names, whose addresses are looked up.

use serde_json::json;
use sidecheck::{Options, Schema, StreamOptions};

use crate::client;
use crate::stand_in::serve;

#[tokio::test]
async fn calls_and_streams_find_the_address_that_has_a_server() {
    let address = serve(|call| async {
        match call.path.ends_with("Stream") {
            true => call.echo_items(|id| id).await,
            false => call.validate(),
        }
    });
    let port = address.await.rsplit_once(':').unwrap().1.to_owned();
    // Where the name has an IPv6 address too, that has no server.
    let client = client(&format!("dns:///localhost:{port}"));
    let (schema, options) = (Schema::new(json!(true)), Options::default());
    for _ in 0..4 {
        let verdict = client.validate(schema.clone(), json!({}), &options).await;
        assert!(verdict.unwrap().valid);
        let (mut sender, mut outcomes) = client
            .stream(None, &options, &StreamOptions::default())
            .await
            .unwrap();
        let arguments = sidecheck::Subject::Arguments(json!({}).into());
        sender.send("1", arguments).await.unwrap();
        sender.finish();
        assert_eq!(outcomes.next().await.unwrap().unwrap().id, "1");
        assert!(outcomes.next().await.is_none());
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_unavailable() {
    // RFC 6761, section 6.4.
    let client = client("dns:///sidecheck.invalid:1");
    assert!(client.info().await.unwrap_err().is_unavailable());
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn the_certificate_of_a_server_has_the_name_that_is_looked_up() {
    let Some(settings) = crate::settings::settings() else {
        return;
    };
    let read = |name: &str| std::fs::read(settings["tls"][name].as_str().unwrap()).unwrap();
    let options = sidecheck::ClientOptions {
        timeout: crate::PATIENCE,
        tls: Some(sidecheck::Tls {
            ca_certificates: Some(read("ca")),
            certificate: Some(read("certificate")),
            private_key: Some(read("key")),
            server_name: None,
        }),
        ..Default::default()
    };
    let address = settings["servers"]["tls"].as_str().unwrap();
    assert!(address.starts_with("localhost:"));
    let client = sidecheck::Client::new(&format!("dns:///{address}"), options).unwrap();
    assert!(!client.info().await.unwrap().version.is_empty());
}
