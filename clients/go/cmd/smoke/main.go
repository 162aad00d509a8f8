// Command smoke makes three calls to a running Sidecheck server, and holds a stream
// of two payloads with it. It prints one line of JSON for each call, two verdicts and
// a refusal, and for each answer in the stream.
//
// Usage: smoke ADDRESS, where ADDRESS is host:port or unix:/path.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

const (
	deadline = 2 * time.Second

	schema         = `{"type":"object","required":["q"],"properties":{"q":{"type":"string"}}}`
	unknownDialect = `{"$schema":"https://example.com/dialect"}`
)

// verdict is the line for a payload that was judged.
type verdict struct {
	Valid bool     `json:"valid"`
	Codes []string `json:"codes"`
}

// refusal is the line for a payload that could not be judged.
type refusal struct {
	Reason string `json:"refused"`
	Status string `json:"status"`
}

// answer is the line for a payload of the stream.
type answer struct {
	ID    string `json:"id"`
	Valid bool   `json:"valid"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: smoke ADDRESS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
}

// run makes the three calls to the server at address, holds the stream, and writes a
// line for each answer.
func run(address string, out io.Writer) error {
	// A sidecar is a neighbour: whatever proxy the environment names, it is not
	// on the way.
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		return err
	}
	defer connection.Close()
	client := sidecheckv1.NewValidationServiceClient(connection)
	lines := json.NewEncoder(out)

	for _, arguments := range []string{`{"q":"x"}`, `{"Q":1}`} {
		response, err := validate(client, schema, arguments)
		if err != nil {
			return fmt.Errorf("a verdict on %s was expected: %w", arguments, err)
		}
		answer := response.GetVerdict()
		if answer == nil {
			return fmt.Errorf("the answer to %s has no verdict", arguments)
		}
		codes := []string{}
		for _, violation := range answer.GetViolations() {
			codes = append(codes, violation.GetCode())
		}
		if err := lines.Encode(verdict{answer.GetValid(), codes}); err != nil {
			return err
		}
	}

	_, err = validate(client, unknownDialect, `{}`)
	refused, err := readRefusal(err)
	if err != nil {
		return fmt.Errorf("a refusal of %s was expected: %w", unknownDialect, err)
	}
	if err := lines.Encode(refused); err != nil {
		return err
	}
	return stream(client, schema, []string{`{"q":"x"}`, `{"Q":1}`}, lines)
}

// stream has the arguments of tool calls judged as they come, and writes a line for
// each answer. It sends and receives at the same time: a server that is not listened
// to stops reading.
func stream(
	client sidecheckv1.ValidationServiceClient, schema string, calls []string, lines *json.Encoder,
) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	judged, err := client.ValidateStream(ctx)
	if err != nil {
		return err
	}
	// What ends the stream is what Recv says; a failing Send only says that it ended.
	go func() {
		defer judged.CloseSend()
		if judged.Send(defaults(schema)) != nil {
			return
		}
		for at, arguments := range calls {
			if judged.Send(item(fmt.Sprint(at), arguments)) != nil {
				return
			}
		}
	}()
	for {
		response, err := judged.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the stream ended early: %w", err)
		}
		verdict := response.GetOutcome().GetVerdict()
		if verdict == nil {
			return fmt.Errorf("item %s was refused: %v", response.GetId(), response.GetOutcome().GetRefusal())
		}
		if err := lines.Encode(answer{response.GetId(), verdict.GetValid()}); err != nil {
			return err
		}
	}
}

// defaults is the first message of a stream: what its items share.
func defaults(schema string) *sidecheckv1.ValidateStreamRequest {
	return &sidecheckv1.ValidateStreamRequest{Message: &sidecheckv1.ValidateStreamRequest_Defaults{
		Defaults: &sidecheckv1.StreamDefaults{
			Target: &sidecheckv1.Target{Target: &sidecheckv1.Target_InlineSchema{
				InlineSchema: &sidecheckv1.InlineSchema{Json: []byte(schema)},
			}},
		},
	}}
}

// item is one payload of a stream; its answer has the same id.
func item(id, arguments string) *sidecheckv1.ValidateStreamRequest {
	return &sidecheckv1.ValidateStreamRequest{Message: &sidecheckv1.ValidateStreamRequest_Item{
		Item: &sidecheckv1.StreamItem{Id: id, Item: &sidecheckv1.ValidateItem{
			Subject: &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_Arguments{
				Arguments: []byte(arguments),
			}},
		}},
	}}
}

// validate has the arguments of a tool call judged under a schema sent along.
func validate(
	client sidecheckv1.ValidationServiceClient, schema, arguments string,
) (*sidecheckv1.ValidateResponse, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return client.Validate(ctx, &sidecheckv1.ValidateRequest{
		Target: &sidecheckv1.Target{Target: &sidecheckv1.Target_InlineSchema{
			InlineSchema: &sidecheckv1.InlineSchema{Json: []byte(schema)},
		}},
		Subject: &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_Arguments{
			Arguments: []byte(arguments),
		}},
	})
}

// readRefusal finds the reason in the error of a call. It fails if the call did
// not, or if the error comes from elsewhere than Sidecheck.
func readRefusal(err error) (refusal, error) {
	if err == nil {
		return refusal{}, errors.New("the call succeeded")
	}
	answer := status.Convert(err)
	for _, detail := range answer.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "sidecheck" {
			return refusal{info.GetReason(), code.Code(answer.Code()).String()}, nil
		}
	}
	return refusal{}, err
}
