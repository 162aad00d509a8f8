package sidecheckmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// registrationTimeout bounds a registration: Sidecheck compiles the schemas of all tools.
const registrationTimeout = 10 * time.Second

// definition is a tool of the server, as it travels.
type definition struct {
	name string
	json json.RawMessage
}

// registeredTools is a registration of a server's tools; another one has another address.
type registeredTools struct {
	// changes is the number of changes of the definitions that preceded it.
	changes int
	// rejected has the first violation of each rejected tool, by name.
	rejected map[string]string
}

// check returns the error for a call of a rejected tool.
func (r *registeredTools) check(call *toolCall) error {
	if violation, isRejected := r.rejected[call.tool()]; isRejected {
		return internalError("Sidecheck rejected the definition of the tool %q: %s", call.tool(), violation)
	}
	return nil
}

// registrar registers the tools of one MCP server.
//
// Tools are added and never removed: several processes may serve the same name, and tools/list
// may differ between users. Each protocol version is registered by itself, because a
// definition may be rejected under one and not under another.
type registrar struct {
	client  *sidecheck.Client
	server  string
	onError func(context.Context, error)
	// registering has an element while a call registers.
	registering chan struct{}

	// state guards what follows.
	state       sync.Mutex
	definitions map[string]json.RawMessage
	changes     int
	registered  map[string]*registeredTools
	attempts    int
	// failure is the error of the last attempt.
	failure error
}

func newRegistrar(
	client *sidecheck.Client, server string, onError func(context.Context, error),
) *registrar {
	return &registrar{
		client:      client,
		server:      server,
		onError:     onError,
		registering: make(chan struct{}, 1),
		definitions: map[string]json.RawMessage{},
		registered:  map[string]*registeredTools{},
	}
}

// observe notes tools that the server lists; what differs is registered at the next call.
func (r *registrar) observe(definitions []definition) {
	r.state.Lock()
	defer r.state.Unlock()
	changed := false
	for _, tool := range definitions {
		if !bytes.Equal(r.definitions[tool.name], tool.json) {
			r.definitions[tool.name] = tool.json
			changed = true
		}
	}
	if changed {
		r.changes++
	}
}

// current returns the registration for a protocol version, nil if there is none or tools have
// changed since, and the number of attempts.
func (r *registrar) current(version string) (*registeredTools, int) {
	r.state.Lock()
	defer r.state.Unlock()
	registered := r.registered[version]
	if registered != nil && registered.changes != r.changes {
		registered = nil
	}
	return registered, r.attempts
}

// register returns the registration for the protocol version of call, made if there is none.
func (r *registrar) register(ctx context.Context, call *toolCall) (*registeredTools, error) {
	registered, attempts := r.current(call.version)
	if registered != nil {
		return registered, nil
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer r.end()
	if registered, _ := r.current(call.version); registered != nil {
		return registered, nil
	}
	if err := r.sharedFailure(attempts); err != nil {
		return nil, err
	}
	definitions, err := listTools(ctx, call)
	if err != nil {
		return nil, err
	}
	return r.send(ctx, call.version, definitions)
}

// registerAgain returns a registration later than previous, or nil if the server lists no tool
// of the name in call.
func (r *registrar) registerAgain(
	ctx context.Context, call *toolCall, previous *registeredTools,
) (*registeredTools, error) {
	_, attempts := r.current(call.version)
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	defer r.end()
	definitions, err := listTools(ctx, call)
	if err != nil {
		return nil, err
	}
	isListed := func(tool definition) bool { return tool.name == call.tool() }
	if !slices.ContainsFunc(definitions, isListed) {
		return nil, nil
	}
	r.state.Lock()
	registered := r.registered[call.version]
	r.state.Unlock()
	if registered != nil && registered != previous {
		return registered, nil
	}
	if err := r.sharedFailure(attempts); err != nil {
		return nil, err
	}
	return r.send(ctx, call.version, definitions)
}

// begin waits until no other call registers.
func (r *registrar) begin(ctx context.Context) error {
	select {
	case r.registering <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *registrar) end() { <-r.registering }

// sharedFailure returns the error of an attempt that ended since attempts was read. Calls that
// waited for an attempt share its outcome, instead of each waiting for a deadline of its own.
func (r *registrar) sharedFailure(attempts int) error {
	r.state.Lock()
	defer r.state.Unlock()
	if r.attempts != attempts {
		return r.failure
	}
	return nil
}

func (r *registrar) send(
	ctx context.Context, version string, definitions []definition,
) (*registeredTools, error) {
	r.observe(definitions)
	r.state.Lock()
	changes := r.changes
	r.state.Unlock()
	tools := make([]sidecheck.ToolDefinition, len(definitions))
	for index, tool := range definitions {
		tools[index] = sidecheck.ToolDefinition{JSON: tool.json}
	}
	// Other calls wait for the registration, so it does not end with this one.
	registerCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), registrationTimeout)
	defer cancel()
	registration, err := r.client.Register(registerCtx, r.server, tools,
		&sidecheck.RegisterOptions{ProtocolVersion: version})
	var rejected *sidecheck.ToolsRejectedError
	if errors.As(err, &rejected) {
		r.onError(ctx, err)
		err = nil
	}
	r.state.Lock()
	defer r.state.Unlock()
	r.attempts++
	r.failure = err
	if err != nil {
		return nil, err
	}
	registered := &registeredTools{changes, rejectedTools(registration)}
	r.registered[version] = registered
	return registered, nil
}

// rejectedTools returns the first error of each rejected tool, by name.
func rejectedTools(registration *sidecheck.Registration) map[string]string {
	rejected := map[string]string{}
	for _, outcome := range registration.Outcomes {
		if outcome.Action != sidecheck.ActionRejected {
			continue
		}
		rejected[outcome.Name] = "the definition is invalid"
		for _, violation := range outcome.Violations {
			if violation.Severity == sidecheck.SeverityError {
				rejected[outcome.Name] = violation.String()
				break
			}
		}
	}
	return rejected
}

// listTools returns the tools of all pages that the server lists.
func listTools(ctx context.Context, call *toolCall) ([]definition, error) {
	var definitions []definition
	seen := map[string]bool{}
	params := &mcp.ListToolsParams{Meta: call.request.Params.Meta}
	for {
		result, err := call.next(ctx, "tools/list", &mcp.ListToolsRequest{
			Session: call.request.Session, Params: params, Extra: call.request.Extra,
		})
		if err != nil {
			return nil, err
		}
		page, isPage := result.(*mcp.ListToolsResult)
		if !isPage || page == nil {
			return nil, fmt.Errorf("the server answered tools/list with a %T", result)
		}
		encoded, err := encodeTools(page)
		if err != nil {
			return nil, err
		}
		definitions = append(definitions, encoded...)
		// A cursor that comes again would be followed for ever.
		if page.NextCursor == "" || seen[page.NextCursor] {
			return definitions, nil
		}
		seen[page.NextCursor] = true
		params = &mcp.ListToolsParams{Meta: params.Meta, Cursor: page.NextCursor}
	}
}

func encodeTools(page *mcp.ListToolsResult) ([]definition, error) {
	definitions := make([]definition, len(page.Tools))
	for index, tool := range page.Tools {
		text, err := json.Marshal(tool)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", tool.Name, err)
		}
		definitions[index] = definition{tool.Name, text}
	}
	return definitions, nil
}
