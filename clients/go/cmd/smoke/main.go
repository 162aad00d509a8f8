// Command smoke makes three calls to a running Sidecheck server and prints one
// line of JSON for each: two verdicts and a refusal.
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

// run makes the three calls to the server at address and writes a line for each.
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
	return lines.Encode(refused)
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
