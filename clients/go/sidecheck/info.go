package sidecheck

import (
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ServerInfo is the version, the limits and the capabilities of a server.
type ServerInfo struct {
	// Version of the server, for example "0.1.0".
	Version string
	// Limits beyond which requests fail with LIMIT_EXCEEDED.
	Limits Limits
	// Dialects are the URIs of the JSON Schema dialects, the default one first.
	Dialects []string
	// ProtocolVersions are the MCP protocol versions, oldest first.
	ProtocolVersions []string
	// DefaultProtocolVersion applies if a request names none.
	DefaultProtocolVersion string
	// Engines are the validation engines.
	Engines []EngineInfo
	// RegistryRevision is the current revision of the registry.
	RegistryRevision uint64
}

// EngineInfo is a validation engine of a server.
type EngineInfo struct {
	// Name is the role: "fast" decides whether a payload is valid, "complete" finds its
	// violations.
	Name string
	// Library that the engine is built on.
	Library string
	// Version of the library.
	Version string
}

// Limits are the limits of a server that a caller can act on. The metadata of LIMIT_EXCEEDED
// names the limit under "bound".
type Limits struct {
	// MessageBytes is the maximum size of a message, in bytes.
	MessageBytes uint32
	// BatchItems is the maximum number of items in a batch and of tools in a registration.
	BatchItems uint32
	// Violations is the maximum number of violations in a verdict.
	Violations uint32
	// PayloadBytes is the maximum size of a payload, in bytes.
	PayloadBytes uint32
	// PayloadDepth is the maximum nesting of arrays and objects in a payload.
	PayloadDepth uint32
	// SchemaBytes is the maximum size of a schema, in bytes. A definition may have twice as
	// much.
	SchemaBytes uint32
	// SchemaDepth is the maximum nesting of arrays and objects in a schema.
	SchemaDepth uint32
	// Subschemas is the maximum number of subschemas in a schema.
	Subschemas uint32
	// Documents is the maximum number of documents sent with a schema.
	Documents uint32
	// DocumentsBytes is the maximum size of all documents sent with a schema, in bytes.
	DocumentsBytes uint32
	// PatternLength is the maximum length of a pattern, in characters.
	PatternLength uint32
	// Steps is the maximum number of steps to validate one payload.
	Steps uint64
	// OffloadedItems is the maximum number of items in a batch that need a worker process.
	OffloadedItems uint32
	// BatchViolations is the maximum number of violations in a batch.
	BatchViolations uint32
	// VerdictCharacters is the maximum length of the violations of a verdict or batch, in
	// characters.
	VerdictCharacters uint32
	// PatternInstructions is the maximum size of all compiled patterns of a schema, in
	// instructions.
	PatternInstructions uint32
	// AllowBacktracking says whether patterns with look-around and back-references are
	// supported.
	AllowBacktracking bool
	// SourceBytes is the maximum size of the source text of an inference, in bytes.
	SourceBytes uint32
	// PatternRepetitions is the maximum number of copies of a part that a pattern repeats.
	PatternRepetitions uint32
	// RequestSteps is the maximum number of steps for one request in all.
	RequestSteps uint64
}

func decodeServerInfo(response *pb.GetServerInfoResponse) (*ServerInfo, error) {
	limits := response.GetLimits()
	if limits == nil {
		return nil, missingField(response, "limits")
	}
	info := &ServerInfo{
		Version: response.GetVersion(),
		Limits: Limits{
			MessageBytes:        limits.GetMessageBytes(),
			BatchItems:          limits.GetBatchItems(),
			Violations:          limits.GetViolations(),
			PayloadBytes:        limits.GetPayloadBytes(),
			PayloadDepth:        limits.GetPayloadDepth(),
			SchemaBytes:         limits.GetSchemaBytes(),
			SchemaDepth:         limits.GetSchemaDepth(),
			Subschemas:          limits.GetSubschemas(),
			Documents:           limits.GetDocuments(),
			DocumentsBytes:      limits.GetDocumentsBytes(),
			PatternLength:       limits.GetPatternLength(),
			Steps:               limits.GetSteps(),
			OffloadedItems:      limits.GetOffloadedItems(),
			BatchViolations:     limits.GetBatchViolations(),
			VerdictCharacters:   limits.GetVerdictCharacters(),
			PatternInstructions: limits.GetPatternInstructions(),
			AllowBacktracking:   limits.GetAllowBacktracking(),
			SourceBytes:         limits.GetSourceBytes(),
			PatternRepetitions:  limits.GetPatternRepetitions(),
			RequestSteps:        limits.GetRequestSteps(),
		},
		Dialects:               response.GetDialects(),
		ProtocolVersions:       response.GetProtocolVersions(),
		DefaultProtocolVersion: response.GetDefaultProtocolVersion(),
		RegistryRevision:       response.GetRegistryRevision(),
	}
	for _, engine := range response.GetEngines() {
		info.Engines = append(info.Engines, EngineInfo{
			Name: engine.GetName(), Library: engine.GetLibrary(), Version: engine.GetVersion(),
		})
	}
	return info, nil
}
