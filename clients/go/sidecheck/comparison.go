package sidecheck

import (
	"context"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// ToolSet is a set of tools to compare: [ServerTools] or [Definitions].
type ToolSet interface {
	encodeToolSet() (*pb.ToolSet, error)
}

// ServerTools are registered tools.
type ServerTools struct {
	// Server is the namespace of the server. One without tools is an error.
	Server string
	// Names of the tools; none means all.
	Names []string
}

// Definitions are tools sent with the request, of which there may be none.
type Definitions []ToolDefinition

func (s ServerTools) encodeToolSet() (*pb.ToolSet, error) {
	return &pb.ToolSet{Server: s.Server, Names: s.Names}, nil
}

func (d Definitions) encodeToolSet() (*pb.ToolSet, error) {
	tools, err := encodeDefinitions(d)
	return &pb.ToolSet{Tools: tools}, err
}

// Compare tells what changed from the tools before to the tools after, and whether it breaks
// callers. Each set has at most Limits.BatchItems tools. The reading decides Comparison.Level; the
// tools have the levels of both.
func (c *Client) Compare(
	ctx context.Context, before, after ToolSet, reading SchemaReading,
) (*Comparison, error) {
	request := &pb.CompareToolsRequest{MinRevision: c.connection.minRevision.Load()}
	var err error
	if request.Reading, err = encodeWord[pb.SchemaReading](reading, "SCHEMA_READING_"); err != nil {
		return nil, err
	}
	if before != nil {
		if request.Old, err = before.encodeToolSet(); err != nil {
			return nil, err
		}
	}
	if after != nil {
		if request.New, err = after.encodeToolSet(); err != nil {
			return nil, err
		}
	}
	var response pb.CompareToolsResponse
	err = c.connection.call(ctx, pb.RegistryService_CompareTools_FullMethodName, request, &response)
	if err != nil {
		return nil, err
	}
	comparison := decodeComparison(&response)
	return &comparison, nil
}
