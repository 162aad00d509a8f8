// Package sidechecktest has the servers and clients that the tests of this module share.
package sidechecktest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// Patience is the deadline of calls that are expected to succeed.
const Patience = 60 * time.Second

// Conformance has the servers and files that tests/conformance provides.
type Conformance struct {
	// Servers are addresses by name.
	Servers map[string]string `json:"servers"`
	TLS     struct {
		CA          string `json:"ca"`
		OtherCA     string `json:"other_ca"`
		Certificate string `json:"certificate"`
		Key         string `json:"key"`
	} `json:"tls"`
	// Cases and Results are paths.
	Cases   string `json:"cases"`
	Results string `json:"results"`
	// Serve is the command that starts a server.
	Serve []string `json:"serve"`
}

// Load returns what tests/conformance provides, or skips the test.
func Load(t testing.TB) *Conformance {
	t.Helper()
	path := os.Getenv("SIDECHECK_CONFORMANCE")
	if path == "" {
		const reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance"
		if os.Getenv("SIDECHECK_REQUIRE_ALL") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var conformance Conformance
	if err := json.Unmarshal(text, &conformance); err != nil {
		t.Fatal(err)
	}
	return &conformance
}

// RealServer returns the address of a real server, or skips the test.
func RealServer(t testing.TB) string {
	t.Helper()
	return Load(t).Servers["real"]
}

// Security returns the TLS configuration for the server "tls".
func (c *Conformance) Security(t testing.TB) *tls.Config {
	t.Helper()
	config := &tls.Config{RootCAs: Authorities(t, c.TLS.CA)}
	if c.TLS.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(c.TLS.Certificate, c.TLS.Key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// Authorities returns those whose certificates are in the file at path.
func Authorities(t testing.TB, path string) *x509.CertPool {
	t.Helper()
	authorities := x509.NewCertPool()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !authorities.AppendCertsFromPEM(text) {
		t.Fatal("the CA file has no certificate")
	}
	return authorities
}

// Open returns a client that is closed at the end of the test. Nil options have [Patience].
func Open(t testing.TB, address string, options *sidecheck.ClientOptions) *sidecheck.Client {
	t.Helper()
	if options == nil {
		options = &sidecheck.ClientOptions{Timeout: Patience}
	}
	client, err := sidecheck.New(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}
