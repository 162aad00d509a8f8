package sidecheck

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
)

// peer is the server that a client calls.
type peer struct {
	// address is as the caller wrote it.
	address string
	hasTLS  bool
	// serverName is the name that the certificate must have; empty is the host of the address.
	serverName string
	// hasAnswered is whether a server responded.
	hasAnswered atomic.Bool
}

// Causes of calls that no server answered, in the metadata of their errors. The clients of all
// languages word them alike (tests/cases/clients/connections.json); only the remedies have the
// names of the language.
const (
	connectionRefused     = "CONNECTION_REFUSED"
	noSocket              = "NO_SOCKET"
	unknownHost           = "UNKNOWN_HOST"
	connectionClosed      = "CONNECTION_CLOSED"
	tlsConnectionClosed   = "TLS_CONNECTION_CLOSED"
	tlsNotSpoken          = "TLS_NOT_SPOKEN"
	untrustedCertificate  = "UNTRUSTED_CERTIFICATE"
	misnamedCertificate   = "MISNAMED_CERTIFICATE"
	http2NotSpoken        = "HTTP2_NOT_SPOKEN"
	httpResponse          = "HTTP_RESPONSE"
	noResponse            = "NO_RESPONSE"
	notConnected          = "NOT_CONNECTED"
	connectionErrorPrefix = `connection error: desc = "`
)

// causes finds causes in the messages of gRPC; the first that matches decides. A server with TLS
// sends nothing to a client in plain text, and closes the connection; one that requires a client
// certificate may do the same, if there is none.
var causes = []struct {
	message *regexp.Regexp
	cause   string
}{
	{regexp.MustCompile(`produced zero addresses|no such host|lookup .*: `), unknownHost},
	{regexp.MustCompile(`connection refused`), connectionRefused},
	{regexp.MustCompile(`dial unix .*no such file or directory`), noSocket},
	{regexp.MustCompile(`first record does not look like a TLS handshake`), tlsNotSpoken},
	{regexp.MustCompile(`x509: certificate signed by unknown authority`), untrustedCertificate},
	{
		regexp.MustCompile(`x509: (certificate is (not )?valid for|cannot validate certificate for)`),
		misnamedCertificate,
	},
	{regexp.MustCompile(`error reading server preface: http2: `), http2NotSpoken},
	{
		regexp.MustCompile(`: EOF|connection reset|broken pipe|closed network connection|` +
			`certificate required`),
		connectionClosed,
	},
}

// connectionError finds the messages of gRPC about a connection; those of a server may have any text.
var connectionError = regexp.MustCompile(
	`^(connection error: desc = "|name resolver error: |error reading from server: |(read|write) (tcp|unix) )`)

var httpStatus = regexp.MustCompile(`HTTP status code received from server: (\d{3})`)

// describe replaces the message of failure by the cause and the address, with both in the
// metadata, if gRPC itself made its status and the cause is known.
func (p *peer) describe(failure *Error) {
	cause, detail := p.causeOf(failure)
	if cause == "" {
		return
	}
	failure.Message = p.text(cause, detail)
	failure.Metadata = map[string]string{"cause": cause, "address": p.address}
}

// causeOf returns the cause of failure, empty if it is unknown, and the variable part of its text.
func (p *peer) causeOf(failure *Error) (cause, detail string) {
	if failure.Status == codes.DeadlineExceeded {
		return noResponse, ""
	}
	if found := httpStatus.FindStringSubmatch(failure.Message); found != nil {
		return httpResponse, found[1]
	}
	if failure.Status != codes.Unavailable || !connectionError.MatchString(failure.Message) {
		return "", ""
	}
	for _, known := range causes {
		if !known.message.MatchString(failure.Message) {
			continue
		}
		if known.cause == connectionClosed && p.hasTLS {
			return tlsConnectionClosed, ""
		}
		return known.cause, ""
	}
	if text, isConnection := strings.CutPrefix(failure.Message, connectionErrorPrefix); isConnection {
		return notConnected, strings.TrimSuffix(text, `"`)
	}
	return "", ""
}

// ifNew returns remedy, or nothing if a server responded here before: then a lost connection says
// nothing about TLS.
func (p *peer) ifNew(remedy string) string {
	if p.hasAnswered.Load() {
		return ""
	}
	return remedy
}

func (p *peer) text(cause, detail string) string {
	place := strings.TrimPrefix(p.address, "dns:///")
	switch cause {
	case connectionRefused:
		return "connection refused at " + place
	case noSocket:
		return "no socket at " + place
	case unknownHost:
		return "cannot resolve the host of " + place
	case connectionClosed:
		return fmt.Sprintf("the server at %s closed the connection", place) +
			p.ifNew(": if it speaks TLS, set ClientOptions.TLS")
	case tlsConnectionClosed:
		return fmt.Sprintf("the server at %s closed the TLS connection", place) +
			p.ifNew(": if it requires a client certificate, set Certificates of ClientOptions.TLS")
	case tlsNotSpoken:
		return fmt.Sprintf("the server at %s does not speak TLS: leave out ClientOptions.TLS", place)
	case untrustedCertificate:
		return fmt.Sprintf("no trusted authority signed the certificate of %s: "+
			"set RootCAs of ClientOptions.TLS", place)
	case misnamedCertificate:
		name := p.serverName
		if name == "" {
			name = place[:max(strings.LastIndex(place, ":"), 0)]
		}
		return fmt.Sprintf("the certificate of %s is not for the name %s: "+
			"set ServerName of ClientOptions.TLS", place, name)
	case http2NotSpoken:
		return fmt.Sprintf("the server at %s does not speak HTTP/2, which gRPC requires", place)
	case httpResponse:
		return fmt.Sprintf("%s answered with HTTP status %s, not with gRPC", place, detail)
	case noResponse:
		return fmt.Sprintf("no response from %s before the deadline", place)
	}
	return fmt.Sprintf("cannot connect to %s: %s", place, detail)
}
