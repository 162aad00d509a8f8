package sidecheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// What the examples share. TestExamples runs them with a server.
var (
	address = "localhost:50151"
	client  *sidecheck.Client
	ctx     context.Context

	searchTool = sidecheck.ToolDefinition{JSON: json.RawMessage(`{
		"name": "search",
		"inputSchema": {
			"type": "object",
			"properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
			"required": ["q"]
		}
	}`)}
)

func Example() {
	client, err := sidecheck.New(address, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	schema := sidecheck.Schema{JSON: json.RawMessage(`{"required": ["q"]}`)}
	verdict, err := client.Validate(ctx, schema, map[string]any{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Valid, verdict.Violations[0].Code)
	// Prints:
	// false REQUIRED
}

func ExampleClient_Validate() {
	verdict, err := client.Validate(ctx, searchTool, json.RawMessage(`{"q": "tides", "limit": "3"}`),
		&sidecheck.Options{Coercion: sidecheck.CoercionSafeScalars})
	if err != nil {
		log.Fatal(err) // No verdict was possible.
	}
	for _, violation := range verdict.Violations {
		fmt.Println(violation.InstanceLocation, violation.Code)
	}
	fmt.Println(verdict.Repair.Payload)
	// Prints:
	// /limit TYPE
	// {"q":"tides","limit":3}
}

func ExampleClient_Register() {
	registration, err := client.Register(ctx, "example", []sidecheck.ToolDefinition{searchTool}, nil)
	if err != nil {
		log.Fatal(err) // A *ToolsRejectedError has the faults of definitions.
	}
	fmt.Println(registration.Outcomes[0].Name)

	params := json.RawMessage(`{"name": "search", "arguments": {"q": "tides"}}`)
	verdict, err := client.ValidateCall(ctx, sidecheck.RegisteredTool{Server: "example"}, params, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Valid)
	// Prints:
	// search
	// true
}

func ExampleClient_List() {
	for tool, err := range client.List(ctx, "example", "") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Server, tool.Name)
	}
	// Prints:
	// example search
}

func ExampleClient_Watch() {
	mirror := map[string]*sidecheck.Tool{}
	watched := &sidecheck.WatchOptions{Servers: []string{"watched"}}
	for event, err := range client.Watch(ctx, watched) {
		if err != nil {
			log.Fatal(err)
		}
		change, changed := event.(sidecheck.ToolsChange)
		if !changed {
			// The first event, a checkpoint: changes from here on follow.
			if _, err := client.Register(ctx, "watched", []sidecheck.ToolDefinition{searchTool}, nil); err != nil {
				log.Fatal(err)
			}
			continue
		}
		for _, tool := range change.Registered {
			mirror[tool.Name] = tool
		}
		for _, name := range change.Deleted {
			delete(mirror, name)
		}
		break
	}
	fmt.Println(mirror["search"].Server)
	// Prints:
	// watched
}

func ExampleClient_ValidateBatch() {
	outcomes, err := client.ValidateBatch(ctx, []sidecheck.Item{
		{Subject: sidecheck.Arguments{Payload: map[string]any{"q": "tides"}}},
		{Subject: sidecheck.Arguments{Payload: map[string]any{"limit": 3}}},
	}, &sidecheck.BatchOptions{Target: searchTool})
	if err != nil {
		log.Fatal(err)
	}
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			log.Fatal(outcome.Err)
		}
		fmt.Println(outcome.Verdict.Valid)
	}
	// Prints:
	// true
	// false
}

func ExampleClient_ValidateStream() {
	items := slices.Values([]sidecheck.StreamItem{
		{ID: "a", Item: sidecheck.Item{Subject: sidecheck.Arguments{Payload: json.RawMessage(`{"q": "tides"}`)}}},
		{ID: "b", Item: sidecheck.Item{Subject: sidecheck.Arguments{Payload: json.RawMessage(`{}`)}}},
	})
	for outcome, err := range client.ValidateStream(ctx, items, &sidecheck.StreamOptions{Target: searchTool}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(outcome.ID, outcome.Verdict.Valid)
	}
	// Prints:
	// a true
	// b false
}

func ExampleError() {
	unknown := sidecheck.RegisteredTool{Server: "example", Name: "none"}
	_, err := client.Validate(ctx, unknown, nil, nil)
	var unavailable *sidecheck.UnavailableError
	var failure *sidecheck.Error
	switch {
	case errors.As(err, &unavailable):
		fmt.Println("no server answered")
	case errors.As(err, &failure):
		fmt.Println(failure.Reason)
	}
	// Prints:
	// UNKNOWN_TOOL
}

func ExampleProtocolClient_CheckMessage() {
	result, err := client.Protocol.CheckMessage(ctx, sidecheck.ProtocolMessage{
		Message: json.RawMessage(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}`),
		Sender:  sidecheck.SenderClient,
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Verdict.Valid, result.Verdict.Violations[0].Code)
	// Prints:
	// false REQUIRED
}

func ExampleProtocolClient_Session() {
	session, err := client.Protocol.Session(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	for range 2 {
		ping := json.RawMessage(`{"jsonrpc": "2.0", "id": 1, "method": "ping"}`)
		result, err := session.Check(ctx, ping, sidecheck.SenderClient, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Verdict.Valid)
	}
	if _, err := session.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	// Prints:
	// true
	// false
}

func ExampleConversionClient_ConvertTools() {
	converted, err := client.Conversion.ConvertTools(ctx, sidecheck.ModelAPIAnthropic,
		[]sidecheck.ToolToConvert{{Tool: searchTool}}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	call := json.RawMessage(`{"type": "tool_use", "id": "1", "name": "search", "input": {"q": "tides"}}`)
	restored, err := client.Conversion.ConvertToolCall(ctx, call, converted.Mappings(), searchTool, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(restored.Verdict.Valid, restored.CallParams)
	// Prints:
	// true {"name":"search","arguments":{"q":"tides"}}
}

func ExampleInferenceClient_InferTools() {
	const source = "def search(q: str) -> list[str]: ...\n"
	inferred, err := client.Inference.InferTools(ctx, source, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(inferred.Tools[0].Function, inferred.Tools[0].Line)
	// Prints:
	// search 1
}
