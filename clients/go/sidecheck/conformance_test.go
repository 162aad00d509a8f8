package sidecheck_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// settings is the file that SIDECHECK_CONFORMANCE names; see tests/conformance.
type settings struct {
	Servers map[string]string
	TLS     struct{ CA, Certificate, Key string }
	Cases   string
	Results string
	Serve   []string
}

// loadSettings returns the settings, and skips the test if there are none.
func loadSettings(t *testing.T) settings {
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
	var loaded settings
	if err := json.Unmarshal(text, &loaded); err != nil {
		t.Fatal(err)
	}
	return loaded
}

// tlsConfig returns the configuration of a client with a certificate.
func (s settings) tlsConfig(t *testing.T) *tls.Config {
	t.Helper()
	authority, err := os.ReadFile(s.TLS.CA)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(s.TLS.Certificate, s.TLS.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatal("the authority has no certificate")
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}}
}

// clientSettings are the options of the client of a case.
type clientSettings struct {
	Timeout         float64
	OnUnavailable   sidecheck.OnUnavailable `json:"on_unavailable"`
	ProtocolVersion string                  `json:"protocol_version"`
	Coalesce        bool
	TLS             bool
}

// sharedCase is a call, and the result that every client has.
type sharedCase struct {
	ID         string
	Server     string
	Client     clientSettings
	Concurrent bool
	Call       string
	OnRejected string `json:"on_rejected"`
	Request    fields
	Want       any
}

// result is the line for a case.
type result struct {
	ID     string `json:"id"`
	Passed bool   `json:"passed"`
	Actual any    `json:"actual,omitempty"`
}

func TestSharedCases(t *testing.T) {
	t.Parallel()
	settings := loadSettings(t)
	cases := loadCases(t, settings.Cases)
	output, err := os.Create(settings.Results)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	lines := json.NewEncoder(output)
	failed := 0
	for len(cases) > 0 {
		alike := 1
		for alike < len(cases) && cases[alike].Server == cases[0].Server &&
			cases[alike].Client == cases[0].Client {
			alike++
		}
		results := runAlike(t, settings, cases[:alike])
		for index, result := range results {
			if err := lines.Encode(result); err != nil {
				t.Fatal(err)
			}
			if result.Passed {
				continue
			}
			if failed++; failed <= 10 {
				t.Errorf("%s\n  want   %s\n  actual %s",
					result.ID, compact(cases[index].Want), compact(result.Actual))
			}
		}
		cases = cases[alike:]
	}
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}

// runAlike runs cases of one server with one client.
func runAlike(t *testing.T, settings settings, cases []sharedCase) []result {
	t.Helper()
	options := &sidecheck.ClientOptions{
		Timeout:         time.Duration(cases[0].Client.Timeout * float64(time.Second)),
		OnUnavailable:   cases[0].Client.OnUnavailable,
		ProtocolVersion: cases[0].Client.ProtocolVersion,
		Coalesce:        cases[0].Client.Coalesce,
	}
	if cases[0].Client.TLS {
		options.TLS = settings.tlsConfig(t)
	}
	client, err := sidecheck.NewClient(settings.Servers[cases[0].Server], options)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	results := make([]result, len(cases))
	var concurrent sync.WaitGroup
	for index, shared := range cases {
		run := func() {
			actual := normalize(t, runCase(t.Context(), client, shared))
			passed := isExpected(shared.Want, actual)
			results[index] = result{ID: shared.ID, Passed: passed}
			if !passed {
				results[index].Actual = actual
			}
		}
		if shared.Concurrent {
			concurrent.Go(run)
		} else {
			run()
		}
	}
	concurrent.Wait()
	return results
}

func loadCases(t *testing.T, path string) []sharedCase {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := json.NewDecoder(bufio.NewReader(file))
	decoder.UseNumber()
	var cases []sharedCase
	for decoder.More() {
		var shared sharedCase
		if err := decoder.Decode(&shared); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, shared)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	return cases
}

// normalize returns value as decoded JSON.
func normalize(t *testing.T, value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		t.Error(err)
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		t.Error(err)
	}
	return decoded
}

// isExpected reports whether actual is want. Of an error, only the keys of want count.
func isExpected(want, actual any) bool {
	switch want := want.(type) {
	case map[string]any:
		actual, ok := actual.(map[string]any)
		if !ok || len(want) != len(actual) {
			return false
		}
		for key, value := range want {
			other, ok := actual[key]
			if failure, isError := value.(map[string]any); isError && key == "error" {
				ok = ok && isExpectedError(failure, other)
			} else {
				ok = ok && isExpected(value, other)
			}
			if !ok {
				return false
			}
		}
		return true
	case []any:
		actual, ok := actual.([]any)
		if !ok || len(want) != len(actual) {
			return false
		}
		for index, value := range want {
			if !isExpected(value, actual[index]) {
				return false
			}
		}
		return true
	}
	return want == actual
}

func isExpectedError(want map[string]any, actual any) bool {
	failure, ok := actual.(map[string]any)
	for key, value := range want {
		ok = ok && reflect.DeepEqual(value, failure[key])
	}
	return ok
}

// compact returns value as JSON text of a bounded length.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 2000 {
		text = append(text[:2000:2000], "..."...)
	}
	return string(text)
}
