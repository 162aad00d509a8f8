//! Addresses of servers.

use std::fmt;
use std::net::IpAddr;

use crate::error::Error;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `host:port`.
    Host(String),
    /// `host:port`, for all addresses of the host.
    AllOfHost(String),
    /// Path of a unix socket.
    Unix(String),
}

impl Address {
    pub(crate) fn parse(address: &str) -> Result<Self, Error> {
        let parsed = if let Some(path) = address.strip_prefix("unix:") {
            // `unix:///path` is the same as `unix:/path`; with two slashes, a host would follow.
            let path = match path.strip_prefix("//") {
                Some(path) if !path.starts_with('/') => "",
                Some(path) => path,
                None => path,
            };
            (!path.trim_matches('/').is_empty()).then(|| Self::Unix(path.to_owned()))
        } else if let Some(host) = address.strip_prefix("dns:///") {
            is_host_and_port(host).then(|| Self::AllOfHost(host.to_owned()))
        } else {
            is_host_and_port(address).then(|| Self::Host(address.to_owned()))
        };
        parsed.ok_or_else(|| {
            Error::invalid_argument(format!(
                "invalid address {address:?}; expected host:port, dns:///host:port or unix:/path"
            ))
        })
    }

    /// Whether what is sent there certainly stays on this machine.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        let (Self::Host(host) | Self::AllOfHost(host)) = self else {
            return true;
        };
        let (host, _) = host.rsplit_once(':').unwrap_or((host, ""));
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost")
            || literal.is_ok_and(|address| address.to_canonical().is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) | Self::AllOfHost(host) => formatter.write_str(host),
            Self::Unix(path) => write!(formatter, "unix:{path}"),
        }
    }
}

fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_port = port.len() <= 5
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|number| number > 0);
    let is_host = match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(literal) => literal.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "/:[]".contains(c))
        }
    };
    is_port && is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_of_three_forms() {
        assert_eq!(Address::parse("a:1").unwrap(), Address::Host("a:1".into()));
        assert_eq!(
            Address::parse("[::1]:1").unwrap(),
            Address::Host("[::1]:1".into())
        );
        assert_eq!(
            Address::parse("dns:///a:1").unwrap(),
            Address::AllOfHost("a:1".into())
        );
        assert_eq!(
            Address::parse("unix:/a").unwrap(),
            Address::Unix("/a".into())
        );
        assert_eq!(
            Address::parse("unix:///a").unwrap(),
            Address::Unix("/a".into())
        );
        assert_eq!(Address::parse("unix:a").unwrap(), Address::Unix("a".into()));
    }

    #[test]
    fn anything_else_is_an_invalid_argument() {
        for address in [
            "",
            "a",
            "a:",
            "a:0",
            "a:65536",
            "a:+1",
            "a:000080",
            "unix://a/b",
            "http://a:1",
            "unix:",
            "unix:/",
        ] {
            let error = Address::parse(address).unwrap_err();
            assert_eq!(
                error.kind(),
                &crate::error::ErrorKind::InvalidArgument,
                "{address}"
            );
        }
    }
}
