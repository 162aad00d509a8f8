// Command smoke makes three calls to a running Sidecheck server and streams two
// payloads to it. It prints one line of JSON for each call, two verdicts and an error,
// and for each response of the stream.
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

// verdict is the line for the verdict on a payload.
type verdict struct {
	Valid bool     `json:"valid"`
	Codes []string `json:"codes"`
}

// failure is the line for an error.
type failure struct {
	Reason string `json:"error"`
	Status string `json:"status"`
}

// outcome is the line for a payload of the stream.
type outcome struct {
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

// run makes the calls to the server at address, streams the payloads, and writes a line
// for each response.
func run(address string, out io.Writer) error {
	// A sidecar runs nearby: the proxy of the environment must not be used.
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
			return fmt.Errorf("expected a verdict on %s: %w", arguments, err)
		}
		result := response.GetVerdict()
		if result == nil {
			return fmt.Errorf("the response to %s has no verdict", arguments)
		}
		codes := []string{}
		for _, violation := range result.GetViolations() {
			codes = append(codes, violation.GetCode())
		}
		if err := lines.Encode(verdict{result.GetValid(), codes}); err != nil {
			return err
		}
	}

	_, err = validate(client, unknownDialect, `{}`)
	failed, err := readError(err)
	if err != nil {
		return fmt.Errorf("expected an error for %s: %w", unknownDialect, err)
	}
	if err := lines.Encode(failed); err != nil {
		return err
	}
	return stream(client, schema, []string{`{"q":"x"}`, `{"Q":1}`}, lines)
}

// stream validates the arguments of tool calls as they come, and writes a line for each
// response. It sends and receives concurrently: a server stops reading while its
// responses are not received.
func stream(
	client sidecheckv1.ValidationServiceClient, schema string, calls []string, lines *json.Encoder,
) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	validated, err := client.ValidateStream(ctx)
	if err != nil {
		return err
	}
	// Recv returns the error that ended the stream; Send fails only with io.EOF.
	go func() {
		defer validated.CloseSend()
		if validated.Send(defaults(schema)) != nil {
			return
		}
		for index, arguments := range calls {
			if validated.Send(item(fmt.Sprint(index), arguments)) != nil {
				return
			}
		}
	}()
	for {
		response, err := validated.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the stream ended early: %w", err)
		}
		verdict := response.GetOutcome().GetVerdict()
		if verdict == nil {
			return fmt.Errorf("item %s has no verdict: %v", response.GetId(), response.GetOutcome().GetError())
		}
		if err := lines.Encode(outcome{response.GetId(), verdict.GetValid()}); err != nil {
			return err
		}
	}
}

// defaults returns the first message of a stream: the target that its items share.
func defaults(schema string) *sidecheckv1.ValidateStreamRequest {
	return &sidecheckv1.ValidateStreamRequest{Message: &sidecheckv1.ValidateStreamRequest_Defaults{
		Defaults: &sidecheckv1.StreamDefaults{
			Target: &sidecheckv1.Target{Target: &sidecheckv1.Target_InlineSchema{
				InlineSchema: &sidecheckv1.InlineSchema{Json: []byte(schema)},
			}},
		},
	}}
}

// item returns the message for one payload of a stream; its response has the same id.
func item(id, arguments string) *sidecheckv1.ValidateStreamRequest {
	return &sidecheckv1.ValidateStreamRequest{Message: &sidecheckv1.ValidateStreamRequest_Item{
		Item: &sidecheckv1.StreamItem{Id: id, Item: &sidecheckv1.ValidateItem{
			Subject: &sidecheckv1.Subject{Subject: &sidecheckv1.Subject_Arguments{
				Arguments: []byte(arguments),
			}},
		}},
	}}
}

// validate validates the arguments of a tool call against a schema sent inline.
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

// readError returns the reason in the error of a call. It fails if the call succeeded or
// if the error is not from Sidecheck.
func readError(err error) (failure, error) {
	if err == nil {
		return failure{}, errors.New("the call succeeded")
	}
	converted := status.Convert(err)
	for _, detail := range converted.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "sidecheck" {
			return failure{info.GetReason(), code.Code(converted.Code()).String()}, nil
		}
	}
	return failure{}, err
}
