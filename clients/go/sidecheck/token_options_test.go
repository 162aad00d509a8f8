package sidecheck_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

func TestMalformedTokensAreRejected(t *testing.T) {
	for _, token := range []string{"a b", "a\n", "é", validator + " "} {
		_, err := sidecheck.New("localhost:1", &sidecheck.ClientOptions{Token: token})
		if !errors.Is(err, sidecheck.ErrInvalidArgument) || !strings.Contains(err.Error(), "visible ASCII") ||
			strings.Contains(err.Error(), validator) {
			t.Errorf("%q: got %v", token, err)
		}
	}
	source := &tokenSource{tokens: []string{validator}}
	options := &sidecheck.ClientOptions{Token: validator, TokenFunc: source.next}
	if _, err := sidecheck.New("localhost:1", options); !errors.Is(err, sidecheck.ErrInvalidArgument) {
		t.Errorf("Token and TokenFunc: got %v", err)
	}
}

func TestTokensNeedTLSBeyondThisMachine(t *testing.T) {
	source := &tokenSource{tokens: []string{validator}}
	for address, allowed := range map[string]bool{
		"127.0.0.1:1": true, "127.8.8.8:1": true, "[::1]:1": true, "localhost:1": true,
		"dns:///localhost:1": true, "unix:/run/sidecheck.sock": true, "unix:sidecheck.sock": true,
		"sidecheck:1": false, "dns:///sidecheck:1": false, "localhost.example:1": false,
		"192.0.2.1:1": false, "[2001:db8::1]:1": false, "0.0.0.0:1": false,
	} {
		for _, options := range []sidecheck.ClientOptions{{Token: validator}, {TokenFunc: source.next}} {
			client, err := sidecheck.New(address, &options)
			if allowed != (err == nil) {
				t.Errorf("%s: got %v", address, err)
			} else if err == nil {
				_ = client.Close()
			} else if !errors.Is(err, sidecheck.ErrInvalidArgument) || strings.Contains(err.Error(), validator) {
				t.Errorf("%s: got %v", address, err)
			}
			options.TokenWithoutTLS = true
			sidechecktest.Open(t, address, &options)
			options.TokenWithoutTLS, options.TLS = false, &tls.Config{}
			sidechecktest.Open(t, address, &options)
		}
	}
}
