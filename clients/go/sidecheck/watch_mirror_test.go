package sidecheck_test

import (
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// definition returns that of a tool without arguments.
func definition(name, description string) sidecheck.ToolDefinition {
	return sidecheck.ToolDefinition{JSON: map[string]any{
		"name": name, "description": description, "inputSchema": map[string]any{"type": "object"},
	}}
}

// mirror applies a change to tools.
func mirror(tools map[string]*sidecheck.Tool, change sidecheck.ToolsChange) {
	for _, tool := range change.Registered {
		tools[tool.Name] = tool
	}
	for _, name := range change.Deleted {
		delete(tools, name)
	}
}

func listTools(t *testing.T, client *sidecheck.Client, server string) map[string]*sidecheck.Tool {
	t.Helper()
	tools := map[string]*sidecheck.Tool{}
	for tool, err := range client.List(t.Context(), server, "") {
		if err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = tool
	}
	return tools
}

// register registers tools of server and returns the revision.
func register(t *testing.T, client *sidecheck.Client, server string, tools ...sidecheck.ToolDefinition) uint64 {
	t.Helper()
	registration, err := client.Register(t.Context(), server, tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	return registration.RegistryRevision
}

func TestRegistryIsMirrored(t *testing.T) {
	client, server := sidechecktest.Open(t, sidechecktest.RealServer(t), nil), "go "+t.Name()
	next, stop := iter.Pull2(client.Watch(t.Context(), &sidecheck.WatchOptions{Servers: []string{server}}))
	defer stop()
	begun, err, _ := next()
	if _, isCheckpoint := begun.(sidecheck.Checkpoint); !isCheckpoint || err != nil {
		t.Fatalf("got %+v, %v, want a checkpoint", begun, err)
	}
	register(t, client, server, definition("a", ""), definition("b", ""))
	register(t, client, server+" 2", definition("a", ""))
	tools := listTools(t, client, server)
	if _, err := client.Delete(t.Context(), server, "b"); err != nil {
		t.Fatal(err)
	}
	last := register(t, client, server, definition("a", "Changed."))

	changes := 0
	for end := begun.Checkpoint(); end.Revision < last; {
		event, err, _ := next()
		if err != nil {
			t.Fatal(err)
		}
		if change, isChange := event.(sidecheck.ToolsChange); isChange {
			if change.Server != server {
				t.Errorf("got a change of %q", change.Server)
			}
			changes++
			mirror(tools, change)
		}
		end = event.Checkpoint()
	}
	if want := listTools(t, client, server); changes != 3 || len(want) != 1 || !reflect.DeepEqual(tools, want) {
		t.Errorf("got %+v after %d changes, want %+v", tools, changes, want)
	}

	position := begun.Checkpoint()
	again, err := takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{
		Servers: []string{server}, After: &position,
	}), 3)
	if err != nil {
		t.Fatal(err)
	}
	tools = map[string]*sidecheck.Tool{}
	for _, event := range again {
		mirror(tools, event.(sidecheck.ToolsChange))
	}
	if want := listTools(t, client, server); !reflect.DeepEqual(tools, want) {
		t.Errorf("got %+v, want %+v", tools, want)
	}
	for _, name := range []string{server, server + " 2"} {
		if _, err := client.DeleteAll(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
}

func TestChangesThatAreNotKept(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	_, err := takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{
		After: &sidecheck.Checkpoint{ID: "of another registry"},
	}), 1)
	expectCompacted(t, err)
}

func expectCompacted(t *testing.T, err error) {
	t.Helper()
	var failure *sidecheck.Error
	if !errors.As(err, &failure) || failure.Reason != "COMPACTED" {
		t.Errorf("got %v, want COMPACTED", err)
	}
}

func TestWatchedServerIsKilledAndComesBack(t *testing.T) {
	server := sidechecktest.Start(t, "127.0.0.1:0")
	client := sidechecktest.Open(t, server.Address, nil)
	register(t, client, "s", definition("a", ""))
	next, stop := iter.Pull2(client.Watch(t.Context(), &sidecheck.WatchOptions{Patience: sidechecktest.Patience}))
	defer stop()
	if event, err, _ := next(); err != nil {
		t.Fatalf("got %+v, %v", event, err)
	}
	server.Kill()
	// Its registry is another one.
	sidechecktest.Start(t, server.Address)
	_, err, _ := next()
	expectCompacted(t, err)
}
