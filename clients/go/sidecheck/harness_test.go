package sidecheck_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// patience is the deadline of calls that are expected to succeed.
const patience = 60 * time.Second

// surroundings are the servers and files that tests/conformance provides.
type surroundings struct {
	Servers map[string]string `json:"servers"`
	TLS     struct {
		CA          string `json:"ca"`
		Certificate string `json:"certificate"`
		Key         string `json:"key"`
	} `json:"tls"`
	Cases   string   `json:"cases"`
	Results string   `json:"results"`
	Serve   []string `json:"serve"`
}

// conformance returns what tests/conformance provides, or skips the test.
func conformance(t *testing.T) surroundings {
	t.Helper()
	path := os.Getenv("SIDECHECK_CONFORMANCE")
	if path == "" {
		const reason = "SIDECHECK_CONFORMANCE is not set; see tests/conformance"
		if os.Getenv("SIDECHECK_REQUIRE_ALL") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found surroundings
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// realServer returns the address of a real server, or skips the test.
func realServer(t *testing.T) string {
	t.Helper()
	return conformance(t).Servers["real"]
}

// open returns a client that is closed at the end of the test.
func open(t *testing.T, address string, options *sidecheck.ClientOptions) *sidecheck.Client {
	t.Helper()
	if options == nil {
		options = &sidecheck.ClientOptions{Timeout: patience}
	}
	client, err := sidecheck.New(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// standIn is a server whose answers a test decides. A method without a function is
// unimplemented.
type standIn struct {
	pb.UnimplementedValidationServiceServer
	pb.UnimplementedInfoServiceServer

	limits   *pb.Limits
	validate func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error)
	batch    func(context.Context, *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error)
	stream   func(pb.ValidationService_ValidateStreamServer) error
}

func (s *standIn) Validate(
	ctx context.Context, request *pb.ValidateRequest,
) (*pb.ValidateResponse, error) {
	if s.validate == nil {
		return s.UnimplementedValidationServiceServer.Validate(ctx, request)
	}
	return s.validate(ctx, request)
}

func (s *standIn) ValidateBatch(
	ctx context.Context, request *pb.ValidateBatchRequest,
) (*pb.ValidateBatchResponse, error) {
	return s.batch(ctx, request)
}

func (s *standIn) ValidateStream(stream pb.ValidationService_ValidateStreamServer) error {
	return s.stream(stream)
}

func (s *standIn) GetServerInfo(
	context.Context, *pb.GetServerInfoRequest,
) (*pb.GetServerInfoResponse, error) {
	limits := s.limits
	if limits == nil {
		limits = &pb.Limits{MessageBytes: 4 << 20, BatchItems: 1000}
	}
	return &pb.GetServerInfoResponse{Limits: limits}, nil
}

// serve starts server and returns its address.
func serve(t *testing.T, server *standIn, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	running := grpc.NewServer(options...)
	pb.RegisterValidationServiceServer(running, server)
	pb.RegisterInfoServiceServer(running, server)
	done := make(chan error, 1)
	go func() { done <- running.Serve(listener) }()
	t.Cleanup(func() {
		running.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}
