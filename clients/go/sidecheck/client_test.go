package sidecheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

var (
	schema = sidecheck.Schema{JSON: json.RawMessage(
		`{"type":"object","required":["q"],"properties":{"q":{"type":"string"}}}`)}
	forecast = sidecheck.ToolDefinition{JSON: map[string]any{
		"name":        "get_forecast",
		"description": "Forecast for a city",
		"inputSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string", "minLength": 1}},
			"required":   []string{"city"},
		},
		"outputSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"celsius": map[string]any{"type": "number"}},
			"required":   []string{"celsius"},
		},
	}}
)

func TestValidateReturnsVerdicts(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	verdict, err := client.Validate(t.Context(), schema, map[string]any{"q": "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !verdict.Valid || verdict.Err() != nil {
		t.Errorf("got %+v, want a valid verdict", verdict)
	}
	verdict, err = client.Validate(t.Context(), schema, json.RawMessage(`{"q": 1, "q": 2}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	// The text is sent unchanged, so the duplicate key is found.
	if verdict.Valid || verdict.Violations[0].Code != "DUPLICATE_KEY" {
		t.Errorf("got %+v, want DUPLICATE_KEY", verdict)
	}
	var invalid *sidecheck.InvalidPayloadError
	if !errors.As(verdict.Err(), &invalid) || invalid.Verdict != verdict {
		t.Errorf("got %v, want an InvalidPayloadError", verdict.Err())
	}
}

func TestEachSubjectIsValidated(t *testing.T) {
	client, ctx := sidechecktest.Open(t, sidechecktest.RealServer(t), nil), t.Context()
	cases := map[string]struct {
		validate func() (*sidecheck.Verdict, error)
		valid    bool
	}{
		"structured content": {func() (*sidecheck.Verdict, error) {
			return client.ValidateStructuredContent(ctx, forecast, map[string]any{"celsius": 1}, nil)
		}, true},
		"absent structured content": {func() (*sidecheck.Verdict, error) {
			return client.ValidateStructuredContent(ctx, forecast, sidecheck.Absent, nil)
		}, false},
		"call": {func() (*sidecheck.Verdict, error) {
			return client.ValidateCall(ctx, forecast, map[string]any{
				"name": "get_forecast", "arguments": map[string]any{"city": ""},
			}, nil)
		}, false},
		"call result": {func() (*sidecheck.Verdict, error) {
			return client.ValidateCallResult(ctx, forecast, map[string]any{
				"content": []any{}, "structuredContent": map[string]any{"celsius": "wet"},
			}, nil)
		}, false},
	}
	for name, test := range cases {
		verdict, err := test.validate()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if verdict.Valid != test.valid {
			t.Errorf("%s: got %+v", name, verdict)
		} else if !test.valid && len(verdict.CallToolResult) == 0 {
			t.Errorf("%s: the verdict has no CallToolResult", name)
		}
	}
}

func TestOptionsAskForRepairs(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	verdict, err := client.Validate(t.Context(),
		sidecheck.Schema{JSON: map[string]any{"properties": map[string]any{"n": map[string]any{"type": "integer"}}}},
		map[string]any{"n": "10"}, &sidecheck.Options{Coercion: sidecheck.CoercionSafeScalars})
	if err != nil {
		t.Fatal(err)
	}
	var repaired struct{ N int }
	if verdict.Repair == nil || !verdict.Repair.Valid {
		t.Fatalf("got %+v, want a repair", verdict)
	}
	if err := verdict.Repair.Payload.Decode(&repaired); err != nil || repaired.N != 10 {
		t.Errorf("got %s, %v", verdict.Repair.Payload, err)
	}
}

func TestBatchKeepsOrderAndErrors(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	outcomes, err := client.ValidateBatch(t.Context(), []sidecheck.Item{
		{Subject: sidecheck.Arguments{map[string]any{"q": "x"}}},
		{Subject: sidecheck.Arguments{nil}, Target: sidecheck.RegisteredTool{Server: "none", Name: "none"}},
		{Subject: sidecheck.Arguments{nil}},
	}, &sidecheck.BatchOptions{Target: schema})
	if err != nil {
		t.Fatal(err)
	}
	var failure *sidecheck.Error
	if len(outcomes) != 3 || !outcomes[0].Verdict.Valid || outcomes[2].Verdict.Valid {
		t.Errorf("got %+v", outcomes)
	} else if !errors.As(outcomes[1].Err, &failure) || failure.Reason != "UNKNOWN_TOOL" {
		t.Errorf("got %v, want UNKNOWN_TOOL", outcomes[1].Err)
	}
}

func TestRegistry(t *testing.T) {
	client, ctx, server := sidechecktest.Open(t, sidechecktest.RealServer(t), nil), t.Context(), "go "+t.Name()
	broken := sidecheck.ToolDefinition{JSON: json.RawMessage(`{"name":"broken"}`)}
	registration, err := client.Register(ctx, server, []sidecheck.ToolDefinition{forecast, broken}, nil)
	var rejected *sidecheck.ToolsRejectedError
	if !errors.As(err, &rejected) || rejected.Registration != registration {
		t.Fatalf("got %v, want a ToolsRejectedError", err)
	}
	if registration.Outcomes[0].Action != sidecheck.ActionCreated ||
		registration.Outcomes[1].Action != sidecheck.ActionRejected {
		t.Errorf("got %+v", registration.Outcomes)
	}
	tool, err := client.Get(ctx, server, "get_forecast", "")
	if err != nil || tool.Name != "get_forecast" {
		t.Fatalf("got %+v, %v", tool, err)
	}
	if _, err := client.Register(ctx, server, []sidecheck.ToolDefinition{tool.Definition()}, nil); err != nil {
		t.Error(err)
	}
	var names []string
	for tool, err := range client.List(ctx, server, "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"get_forecast"}) {
		t.Errorf("got %v", names)
	}
	deletion, err := client.Delete(ctx, server, "get_forecast", "none")
	if err != nil || len(deletion.Deleted) != 1 || len(deletion.Unknown) != 1 {
		t.Errorf("got %+v, %v", deletion, err)
	}
	if _, err := client.DeleteAll(ctx, server); err != nil {
		t.Error(err)
	}
	var failure *sidecheck.Error
	if _, err := client.Get(ctx, server, "get_forecast", ""); !errors.As(err, &failure) {
		t.Errorf("got %v, want an Error", err)
	}
}

func TestInfoNamesTheLimits(t *testing.T) {
	info, err := sidechecktest.Open(t, sidechecktest.RealServer(t), nil).Info(t.Context())
	if err != nil || info.Limits.BatchItems == 0 || len(info.ProtocolVersions) == 0 {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestUnixSocket(t *testing.T) {
	address := sidechecktest.Load(t).Servers["unix"]
	if address == "" {
		t.Skip("there is no server at a unix socket")
	}
	if _, err := sidechecktest.Open(t, address, nil).Info(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	conformance := sidechecktest.Load(t)
	if conformance.Servers["tls"] == "" {
		t.Skip("there is no server with TLS")
	}
	if _, err := sidechecktest.Open(t, conformance.Servers["tls"], &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, TLS: conformance.Security(t),
	}).Info(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestInvalidArguments(t *testing.T) {
	for _, address := range []string{"", "localhost", "localhost:0", "http://localhost:1", "unix:", ":1",
		"unix://host/a", "a%b:1"} {
		if _, err := sidecheck.New(address, nil); !errors.Is(err, sidecheck.ErrInvalidArgument) {
			t.Errorf("%q: got %v", address, err)
		}
	}
	for _, address := range []string{"localhost:1", "dns:///localhost:1", "[::1]:1", "unix:a", "unix:/a"} {
		sidechecktest.Open(t, address, nil)
	}
	if _, err := sidecheck.New("localhost:1", &sidecheck.ClientOptions{Timeout: -1}); err == nil {
		t.Error("a negative timeout is accepted")
	}
	if _, err := sidecheck.New("localhost:1", &sidecheck.ClientOptions{OnUnavailable: "ask"}); err == nil {
		t.Error("an unknown policy is accepted")
	}
	client := sidechecktest.Open(t, (&sidechecktest.StandIn{}).Serve(t), &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableAllow,
	})
	ctx := context.Background()
	for name, validate := range map[string]func() (*sidecheck.Verdict, error){
		"NaN":           func() (*sidecheck.Verdict, error) { return client.Validate(ctx, schema, math.NaN(), nil) },
		"string params": func() (*sidecheck.Verdict, error) { return client.ValidateCall(ctx, schema, "{}", nil) },
		"unknown word": func() (*sidecheck.Verdict, error) {
			return client.Validate(ctx, schema, nil, &sidecheck.Options{Detail: "more"})
		},
		// A string of a message must be UTF-8. The policy must not apply.
		"name that is not UTF-8": func() (*sidecheck.Verdict, error) {
			return client.Validate(ctx, sidecheck.RegisteredTool{Server: "\xff"}, nil, nil)
		},
	} {
		if verdict, err := validate(); !errors.Is(err, sidecheck.ErrInvalidArgument) {
			t.Errorf("%s: got %+v, %v", name, verdict, err)
		}
	}
}

func TestParseToolsReadsEachForm(t *testing.T) {
	const tool = `{"name": "a",  "inputSchema": {"type": "object"}}`
	for text, want := range map[string]int{
		tool:                          1,
		"[" + tool + "," + tool + "]": 2,
		`{"tools":[` + tool + `]}`:    1,
		`{"name":"no schema"}`:        1,
		`{"tools":[]}`:                0,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + tool + `],"nextCursor":"2"}}`: 1,
	} {
		tools, _, err := sidecheck.ParseTools([]byte(text))
		if err != nil || len(tools) != want {
			t.Errorf("%s: got %d tools, %v", text, len(tools), err)
		}
	}
	tools, cursor, err := sidecheck.ParseTools([]byte(`{"tools":[` + tool + `],"nextCursor":"2"}`))
	if err != nil || cursor != "2" || string(tools[0].JSON.(json.RawMessage)) != tool {
		t.Errorf("got %s, %q, %v", tools, cursor, err)
	}
	for _, text := range []string{"", "1", `{"jsonrpc":"2.0"}`, `{"tools":1}`} {
		if _, _, err := sidecheck.ParseTools([]byte(text)); !errors.Is(err, sidecheck.ErrInvalidArgument) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestCompareShowsWhatBreaksCallers(t *testing.T) {
	client, ctx, server := sidechecktest.Open(t, sidechecktest.RealServer(t), nil), t.Context(), "go "+t.Name()
	narrower := sidecheck.ToolDefinition{JSON: json.RawMessage(`{"name":"f","inputSchema":
		{"type":"object","properties":{"n":{"type":"integer","maximum":5}}}}`)}
	wider := sidecheck.ToolDefinition{JSON: json.RawMessage(`{"name":"f","inputSchema":
		{"type":"object","properties":{"n":{"type":"integer","maximum":9}}}}`)}
	registered, err := client.Register(ctx, server, []sidecheck.ToolDefinition{wider}, nil)
	if err != nil {
		t.Fatal(err)
	}
	client.SetMinRevision(registered.RegistryRevision)
	comparison, err := client.Compare(ctx, sidecheck.ServerTools{Server: server},
		sidecheck.Definitions{narrower}, sidecheck.SchemaReadingAsWritten)
	if err != nil {
		t.Fatal(err)
	}
	if comparison.Level != sidecheck.ChangeLevelBreaking || len(comparison.Tools) != 1 {
		t.Fatalf("got %+v", comparison)
	}
	if witness := comparison.Tools[0].Schemas[0].AsWritten.Witness; witness == nil || len(witness.Payload) == 0 {
		t.Errorf("got %+v, want a payload that breaks", comparison.Tools[0])
	}
	registration, err := client.Register(ctx, server, []sidecheck.ToolDefinition{narrower},
		&sidecheck.RegisterOptions{Compatibility: sidecheck.CompatibilityPolicyRejectBreaking, ReturnRejected: true})
	if err != nil {
		t.Fatal(err)
	}
	if outcome := registration.Outcomes[0]; outcome.Action != sidecheck.ActionRejected || outcome.Comparison == nil {
		t.Errorf("got %+v, want a rejection with its comparison", outcome)
	}
	registration, err = client.Register(ctx, server, nil, &sidecheck.RegisterOptions{
		Replace: true, Compatibility: sidecheck.CompatibilityPolicyRejectBreaking})
	if err != nil || !slices.Equal(registration.Kept, []string{"f"}) {
		t.Errorf("got %+v, %v, want f kept", registration, err)
	}
	if _, err := client.DeleteAll(ctx, server); err != nil {
		t.Error(err)
	}
}
