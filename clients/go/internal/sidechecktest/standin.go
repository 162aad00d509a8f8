package sidechecktest

import (
	"context"
	"net"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// StandIn is a server whose answers a test decides. A method without a function is unimplemented.
type StandIn struct {
	pb.UnimplementedValidationServiceServer
	pb.UnimplementedProtocolServiceServer
	pb.UnimplementedRegistryServiceServer
	pb.UnimplementedInfoServiceServer

	// Limits are those that it tells; nil means 1,000 items and 4 MiB.
	Limits     *pb.Limits
	OnValidate func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error)
	OnBatch    func(context.Context, *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error)
	OnStream   func(pb.ValidationService_ValidateStreamServer) error
	OnSession  func(pb.ProtocolService_CheckSessionServer) error
	OnRegister func(*pb.RegisterToolsRequest) (*pb.RegisterToolsResponse, error)
	OnWatch    func(*pb.WatchToolsRequest, pb.RegistryService_WatchToolsServer) error
}

// Serve starts the server, which ends with the test, and returns its address.
func (s *StandIn) Serve(t testing.TB, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	pb.RegisterValidationServiceServer(server, s)
	pb.RegisterProtocolServiceServer(server, s)
	pb.RegisterRegistryServiceServer(server, s)
	pb.RegisterInfoServiceServer(server, s)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// GetServerInfo returns the limits.
func (s *StandIn) GetServerInfo(
	context.Context, *pb.GetServerInfoRequest,
) (*pb.GetServerInfoResponse, error) {
	limits := s.Limits
	if limits == nil {
		limits = &pb.Limits{MessageBytes: 4 << 20, BatchItems: 1000}
	}
	return &pb.GetServerInfoResponse{Limits: limits}, nil
}

// Validate answers with OnValidate.
func (s *StandIn) Validate(
	ctx context.Context, request *pb.ValidateRequest,
) (*pb.ValidateResponse, error) {
	if s.OnValidate == nil {
		return s.UnimplementedValidationServiceServer.Validate(ctx, request)
	}
	return s.OnValidate(ctx, request)
}

// ValidateBatch answers with OnBatch.
func (s *StandIn) ValidateBatch(
	ctx context.Context, request *pb.ValidateBatchRequest,
) (*pb.ValidateBatchResponse, error) {
	if s.OnBatch == nil {
		return s.UnimplementedValidationServiceServer.ValidateBatch(ctx, request)
	}
	return s.OnBatch(ctx, request)
}

// ValidateStream answers with OnStream.
func (s *StandIn) ValidateStream(stream pb.ValidationService_ValidateStreamServer) error {
	if s.OnStream == nil {
		return s.UnimplementedValidationServiceServer.ValidateStream(stream)
	}
	return s.OnStream(stream)
}

// CheckSession answers with OnSession.
func (s *StandIn) CheckSession(stream pb.ProtocolService_CheckSessionServer) error {
	if s.OnSession == nil {
		return s.UnimplementedProtocolServiceServer.CheckSession(stream)
	}
	return s.OnSession(stream)
}

// RegisterTools answers with OnRegister.
func (s *StandIn) RegisterTools(
	ctx context.Context, request *pb.RegisterToolsRequest,
) (*pb.RegisterToolsResponse, error) {
	if s.OnRegister == nil {
		return s.UnimplementedRegistryServiceServer.RegisterTools(ctx, request)
	}
	return s.OnRegister(request)
}

// WatchTools answers with OnWatch.
func (s *StandIn) WatchTools(
	request *pb.WatchToolsRequest, stream pb.RegistryService_WatchToolsServer,
) error {
	if s.OnWatch == nil {
		return s.UnimplementedRegistryServiceServer.WatchTools(request, stream)
	}
	return s.OnWatch(request, stream)
}

// Valid returns the response with a valid verdict.
func Valid() *pb.ValidateResponse {
	return &pb.ValidateResponse{Verdict: &pb.Verdict{Valid: true, Enforced: true}}
}

// AllValid returns the response with a valid verdict for each item of request.
func AllValid(request *pb.ValidateBatchRequest) *pb.ValidateBatchResponse {
	response := &pb.ValidateBatchResponse{}
	for range request.GetItems() {
		response.Outcomes = append(response.Outcomes, &pb.ValidateOutcome{
			Outcome: &pb.ValidateOutcome_Verdict{Verdict: &pb.Verdict{Valid: true, Enforced: true}},
		})
	}
	return response
}

// Failure returns the error of a call that fails with a reason of Sidecheck.
func Failure(code codes.Code, reason string, metadata map[string]string) error {
	failed, err := status.New(code, "the test says so").WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "sidecheck", Metadata: metadata})
	if err != nil {
		return err
	}
	return failed.Err()
}
