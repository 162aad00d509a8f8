//! Clients of the servers that the cases name.

use std::time::Duration;

use serde_json::Value;
use sidecheck::{Client, ClientOptions, OnUnavailable};

use crate::requests::string;

pub fn client(settings: &Value, case: &Value) -> Result<Client, &'static str> {
    let options = &case["client"];
    #[cfg(not(feature = "tls"))]
    if options["tls"] == true {
        return Err("the feature tls is off");
    }
    if options["coalesce"] == true {
        return Err("the Rust client has no coalescing");
    }
    #[cfg(feature = "tls")]
    let tls = (options["tls"] == true).then(|| {
        let read = |name: &str| std::fs::read(settings["tls"][name].as_str().unwrap()).unwrap();
        let fault = string(&options["tls_fault"]);
        let authority = if fault == "authority" {
            "other_ca"
        } else {
            "ca"
        };
        sidecheck::Tls {
            ca_certificates: Some(read(authority)),
            certificate: Some(read("certificate")),
            private_key: Some(read("key")),
            server_name: (fault == "name").then(|| "elsewhere.example".to_owned()),
        }
    });
    let address = settings["servers"][string(&case["server"])]
        .as_str()
        .unwrap();
    let options = ClientOptions {
        timeout: Duration::from_secs_f64(options["timeout"].as_f64().unwrap()),
        on_unavailable: match options["on_unavailable"].as_str().unwrap() {
            "allow" => OnUnavailable::Allow,
            "deny" => OnUnavailable::Deny,
            _ => OnUnavailable::Error,
        },
        protocol_version: string(&options["protocol_version"]).to_owned(),
        #[cfg(feature = "tls")]
        tls,
        ..ClientOptions::default()
    };
    Ok(Client::new(address, options).unwrap())
}
