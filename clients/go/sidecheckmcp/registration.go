package sidecheckmcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

type listFunc func(context.Context) ([]*mcp.Tool, error)

// listTools returns the tools of all pages that the server lists in session.
func listTools(
	ctx context.Context, next mcp.MethodHandler, session *mcp.ServerSession,
) ([]*mcp.Tool, error) {
	var tools []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for {
		result, err := next(ctx, "tools/list", &mcp.ListToolsRequest{Session: session, Params: params})
		if err != nil {
			return nil, err
		}
		page, isPage := result.(*mcp.ListToolsResult)
		if !isPage || page == nil {
			return nil, errors.New("the server does not list its tools")
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" {
			return tools, nil
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
}

// registeredTools are the tools of a server as they were registered.
type registeredTools struct {
	// registering is held by the one call that registers; others wait for it.
	registering sync.Mutex
	mutex       sync.Mutex
	current     bool
	// generation counts the registrations.
	generation int
	// texts are the definitions by name.
	texts map[string]string
	// rejected are the errors of the tools that cannot be validated, by name.
	rejected map[string]*rejectedError
}

// compare notes whether listed tools differ from those that were registered.
func (r *registeredTools) compare(listed []*mcp.Tool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, tool := range listed {
		text, err := toolText(tool)
		if registered, exists := r.texts[tool.Name]; err != nil || !exists || registered != text {
			r.current = false
		}
	}
}

func (r *registeredTools) has(name string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, exists := r.texts[name]
	return exists
}

// rejection returns the error of a tool whose definition was rejected, nil for any other.
func (r *registeredTools) rejection(name string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.rejected[name]; err != nil {
		return err
	}
	return nil
}

// register registers the tools unless they are, or with again in any case but that another call
// just did. It returns whether the tools were registered meanwhile.
func (r *registeredTools) register(
	ctx context.Context, v *validator, list listFunc, again bool,
) (bool, error) {
	r.mutex.Lock()
	generation := r.generation
	current := r.current
	r.mutex.Unlock()
	if current && !again {
		return false, nil
	}
	r.registering.Lock()
	defer r.registering.Unlock()
	r.mutex.Lock()
	renewed := r.current && r.generation != generation
	r.mutex.Unlock()
	if renewed {
		return true, nil
	}
	tools, err := list(ctx)
	if err != nil {
		return false, err
	}
	definitions := make([]sidecheck.ToolDefinition, 0, len(tools))
	texts := make(map[string]string, len(tools))
	for _, tool := range tools {
		text, err := toolText(tool)
		if err != nil {
			return false, fmt.Errorf("the definition of the tool %q: %w", tool.Name, err)
		}
		texts[tool.Name] = text
		definitions = append(definitions, sidecheck.ToolDefinition{JSON: []byte(text)})
	}
	rejected := map[string]*rejectedError{}
	registration, err := v.client.Register(ctx, v.name, definitions, nil)
	var failure *sidecheck.ToolsRejectedError
	if errors.As(err, &failure) {
		v.options.OnError(ctx, "", err)
		registration, err = failure.Registration, nil
	}
	if err != nil {
		return false, err
	}
	for index, outcome := range registration.Outcomes {
		if outcome.Action == sidecheck.ActionRejected {
			name := tools[index].Name
			rejected[name] = &rejectedError{tool: name, violation: firstError(outcome.Violations)}
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.current, r.texts, r.rejected = true, texts, rejected
	r.generation++
	return true, nil
}

func firstError(violations []sidecheck.Violation) string {
	for _, violation := range violations {
		if violation.Severity == sidecheck.SeverityError {
			return violation.String()
		}
	}
	return "no reason was given"
}
