package sidecheck_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// sharedCase is one call that the clients of all languages make.
type sharedCase struct {
	ID         string         `json:"id"`
	Server     string         `json:"server"`
	Client     sharedOptions  `json:"client"`
	Concurrent bool           `json:"concurrent"`
	Call       string         `json:"call"`
	OnRejected string         `json:"on_rejected"`
	Request    object         `json:"request"`
	Want       map[string]any `json:"want"`
}

type sharedOptions struct {
	Timeout         float64 `json:"timeout"`
	OnUnavailable   string  `json:"on_unavailable"`
	ProtocolVersion string  `json:"protocol_version"`
	Coalesce        bool    `json:"coalesce"`
	TLS             bool    `json:"tls"`
	TLSFault        string  `json:"tls_fault"`
}

// caseResult is the line for one case.
type caseResult struct {
	ID      string `json:"id"`
	Passed  bool   `json:"passed"`
	Actual  any    `json:"actual,omitempty"`
	Skipped string `json:"skipped,omitempty"`
}

// remedies has those of this client for the placeholders of the cases.
var remedies = strings.NewReplacer(
	"{set TLS}", "set ClientOptions.TLS",
	"{leave out TLS}", "leave out ClientOptions.TLS",
	"{set the authorities}", "set RootCAs of ClientOptions.TLS",
	"{set the name}", "set ServerName of ClientOptions.TLS",
)

func TestSharedCases(t *testing.T) {
	conformance := sidechecktest.Load(t)
	if conformance.Cases == "" {
		t.Skip("there are no cases")
	}
	text, err := os.ReadFile(conformance.Cases)
	if err != nil {
		t.Fatal(err)
	}
	var results []caseResult
	clients := map[string]*sidecheck.Client{}
	var running sync.WaitGroup
	var cases []sharedCase
	for line := range strings.Lines(remedies.Replace(string(text))) {
		var decoded sharedCase
		decode(t, []byte(line), &decoded)
		cases = append(cases, decoded)
	}
	results = make([]caseResult, len(cases))
	for index, shared := range cases {
		key := encode(t, []any{shared.Server, shared.Client})
		client := clients[key]
		if client == nil {
			client = sidechecktest.Open(t, conformance.Servers[shared.Server], clientOptions(t, conformance, shared.Client))
			clients[key] = client
		}
		if !shared.Concurrent {
			running.Wait()
			results[index] = runCase(t, client, shared)
			continue
		}
		running.Go(func() { results[index] = runCase(t, client, shared) })
	}
	running.Wait()
	var lines bytes.Buffer
	failures := 0
	for index, result := range results {
		lines.WriteString(encode(t, result) + "\n")
		if result.Passed || result.Skipped != "" {
			continue
		}
		if failures++; failures <= 20 {
			t.Errorf("%s\n  want %s\n  got  %s", result.ID, encode(t, cases[index].Want), encode(t, result.Actual))
		}
	}
	if failures > 0 {
		t.Errorf("%d of %d cases failed", failures, len(results))
	}
	if err := os.WriteFile(conformance.Results, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func clientOptions(t *testing.T, conformance *sidechecktest.Conformance, shared sharedOptions) *sidecheck.ClientOptions {
	options := &sidecheck.ClientOptions{
		Timeout:         time.Duration(shared.Timeout * float64(time.Second)),
		OnUnavailable:   sidecheck.OnUnavailable(shared.OnUnavailable),
		ProtocolVersion: shared.ProtocolVersion,
		Coalesce:        shared.Coalesce,
	}
	if shared.TLS {
		options.TLS = conformance.Security(t)
		switch shared.TLSFault {
		case "authority":
			options.TLS.RootCAs = sidechecktest.Authorities(t, conformance.TLS.OtherCA)
		case "name":
			options.TLS.ServerName = "elsewhere.example"
		}
	}
	return options
}

func runCase(t *testing.T, client *sidecheck.Client, shared sharedCase) caseResult {
	call := sharedCalls[shared.Call]
	if call == nil {
		return caseResult{ID: shared.ID, Skipped: "the client has no method for " + shared.Call}
	}
	if shared.OnRejected != "" {
		shared.Request["on_rejected"] = shared.OnRejected
	}
	result, err := call(t.Context(), client, shared.Request)
	if err != nil {
		failure := map[string]any{"error": renderError(err)}
		if stopped, isMap := result.(map[string]any); isMap && stopped["responses"] != nil {
			failure["responses"] = stopped["responses"]
		}
		result = failure
	}
	var actual map[string]any
	decode(t, []byte(encode(t, result)), &actual)
	if isExpected(shared.Want, actual) {
		return caseResult{ID: shared.ID, Passed: true}
	}
	return caseResult{ID: shared.ID, Actual: actual}
}

// isExpected says whether actual is want; of an error only the keys of want count.
func isExpected(want, actual any) bool {
	switch want := want.(type) {
	case map[string]any:
		actual, isObject := actual.(map[string]any)
		if !isObject || len(want) != len(actual) {
			return false
		}
		for key, value := range want {
			found, exists := actual[key]
			if !exists {
				return false
			}
			if expected, isError := value.(map[string]any); isError && key == "error" {
				reported, isObject := found.(map[string]any)
				if !isObject {
					return false
				}
				for name, part := range expected {
					if !reflect.DeepEqual(part, reported[name]) {
						return false
					}
				}
			} else if !isExpected(value, found) {
				return false
			}
		}
		return true
	case []any:
		actual, isArray := actual.([]any)
		if !isArray || len(want) != len(actual) {
			return false
		}
		for index := range want {
			if !isExpected(want[index], actual[index]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, actual)
}

func decode(t *testing.T, text []byte, target any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		t.Error(err)
	}
}

func encode(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
