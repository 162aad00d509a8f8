package sidecheck

import (
	"context"
	"time"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ServerInfo describes a server.
type ServerInfo struct {
	// Version is the version of the server.
	Version string
	// Limits are those beyond which requests fail with LIMIT_EXCEEDED.
	Limits Limits
	// Dialects are the URIs of the supported JSON Schema dialects, the default one first.
	Dialects []string
	// ProtocolVersions are the supported MCP protocol versions, oldest first.
	ProtocolVersions []string
	// DefaultProtocolVersion is that of requests that name none.
	DefaultProtocolVersion string
	// Engines are the validation engines.
	Engines []Engine
	// RegistryRevision is the current revision of the registry.
	RegistryRevision uint64
}

// Engine is a validation engine of a server.
type Engine struct {
	// Name is its role: fast decides whether a payload is valid, complete finds its
	// violations.
	Name string
	// Library is what the engine is built on.
	Library string
	// Version is that of the library.
	Version string
}

// Limits are the limits of a server. To exceed one is the error LIMIT_EXCEEDED, whose
// metadata name the limit under bound.
type Limits struct {
	// MessageBytes is the maximum size of a gRPC message that the server receives.
	MessageBytes uint32
	// BatchItems is the maximum number of items in a batch and of tools in a registration.
	BatchItems uint32
	// Violations is the maximum number of violations in a verdict.
	Violations uint32
	// PayloadBytes is the maximum size of a payload.
	PayloadBytes uint32
	// PayloadDepth is the maximum nesting of arrays and objects in a payload.
	PayloadDepth uint32
	// SchemaBytes is the maximum size of a schema. A tool definition may have twice as much.
	SchemaBytes uint32
	// SchemaDepth is the maximum nesting of arrays and objects in a schema.
	SchemaDepth uint32
	// Subschemas is the maximum number of subschemas in a schema.
	Subschemas uint32
	// Documents is the maximum number of documents sent with a schema.
	Documents uint32
	// DocumentsBytes is the maximum size of all documents sent with a schema.
	DocumentsBytes uint32
	// PatternLength is the maximum length of a pattern, in characters.
	PatternLength uint32
	// Steps is the maximum number of steps to validate one payload. A step is about one
	// comparison.
	Steps uint64
	// OffloadedItems is the maximum number of items in a batch that need a worker process.
	OffloadedItems uint32
	// BatchViolations is the maximum number of violations in a batch.
	BatchViolations uint32
	// VerdictCharacters is the maximum length of the violations of a verdict or batch. One
	// violation is always reported.
	VerdictCharacters uint32
	// PatternInstructions is the maximum size of all compiled patterns of a schema.
	PatternInstructions uint32
	// AllowBacktracking reports whether patterns with look-around and back-references are
	// supported.
	AllowBacktracking bool
	// SourceBytes is the maximum size of the source text to infer tools from.
	SourceBytes uint32
	// PatternRepetitions is the maximum number of copies of a part that a pattern repeats,
	// with nested repetitions multiplied.
	PatternRepetitions uint32
	// RequestSteps is the maximum number of steps for one request in all. Items beyond it
	// are not reached.
	RequestSteps uint64
}

// Info returns the version, limits and capabilities of the server.
func (c *Client) Info(ctx context.Context) (*ServerInfo, error) {
	return c.connection.info(ctx, c.connection.timeout)
}

// info returns the description of the server, and stores its limits.
func (c *connection) info(ctx context.Context, timeout time.Duration) (*ServerInfo, error) {
	response, err := call[sidecheckv1.GetServerInfoResponse](
		ctx, c, sidecheckv1.InfoService_GetServerInfo_FullMethodName,
		&sidecheckv1.GetServerInfoRequest{}, timeout)
	if err != nil {
		return nil, err
	}
	if response.GetLimits() == nil {
		return nil, missing("GetServerInfoResponse.limits")
	}
	info := &ServerInfo{
		Version:                response.GetVersion(),
		Limits:                 decodeLimits(response.GetLimits()),
		Dialects:               response.GetDialects(),
		ProtocolVersions:       response.GetProtocolVersions(),
		DefaultProtocolVersion: response.GetDefaultProtocolVersion(),
		Engines: decodeList(response.GetEngines(), func(engine *sidecheckv1.EngineInfo) Engine {
			return Engine{engine.GetName(), engine.GetLibrary(), engine.GetVersion()}
		}),
		RegistryRevision: response.GetRegistryRevision(),
	}
	limits := info.Limits
	c.limits.Store(&limits)
	return info, nil
}

// serverLimits returns the limits of the server, which are fetched once.
func (c *connection) serverLimits(ctx context.Context, timeout time.Duration) (*Limits, error) {
	if limits := c.limits.Load(); limits != nil {
		return limits, nil
	}
	info, err := c.info(ctx, timeout)
	if err != nil {
		return nil, err
	}
	return &info.Limits, nil
}

func decodeLimits(message *sidecheckv1.Limits) Limits {
	return Limits{
		MessageBytes:        message.GetMessageBytes(),
		BatchItems:          message.GetBatchItems(),
		Violations:          message.GetViolations(),
		PayloadBytes:        message.GetPayloadBytes(),
		PayloadDepth:        message.GetPayloadDepth(),
		SchemaBytes:         message.GetSchemaBytes(),
		SchemaDepth:         message.GetSchemaDepth(),
		Subschemas:          message.GetSubschemas(),
		Documents:           message.GetDocuments(),
		DocumentsBytes:      message.GetDocumentsBytes(),
		PatternLength:       message.GetPatternLength(),
		Steps:               message.GetSteps(),
		OffloadedItems:      message.GetOffloadedItems(),
		BatchViolations:     message.GetBatchViolations(),
		VerdictCharacters:   message.GetVerdictCharacters(),
		PatternInstructions: message.GetPatternInstructions(),
		AllowBacktracking:   message.GetAllowBacktracking(),
		SourceBytes:         message.GetSourceBytes(),
		PatternRepetitions:  message.GetPatternRepetitions(),
		RequestSteps:        message.GetRequestSteps(),
	}
}
