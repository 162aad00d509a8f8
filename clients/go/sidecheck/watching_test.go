package sidecheck_test

import (
	"errors"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// watchScript is a server whose streams send what they have, one after the other.
type watchScript struct {
	mutex    sync.Mutex
	streams  []scriptedWatch
	requests []*pb.WatchToolsRequest
}

// scriptedWatch is a stream that sends responses, and ends with err.
type scriptedWatch struct {
	responses []*pb.WatchToolsResponse
	err       error
}

// serve starts the server and returns its address.
func (s *watchScript) serve(t *testing.T) string {
	return (&sidechecktest.StandIn{OnWatch: s.watch}).Serve(t)
}

func (s *watchScript) watch(request *pb.WatchToolsRequest, stream pb.RegistryService_WatchToolsServer) error {
	s.mutex.Lock()
	s.requests = append(s.requests, request)
	next := scriptedWatch{err: status.Error(codes.Aborted, "the script has no more streams")}
	if len(s.streams) > 0 {
		next, s.streams = s.streams[0], s.streams[1:]
	}
	s.mutex.Unlock()
	for _, response := range next.responses {
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	return next.err
}

// expectRequests says which requests the server has got.
func (s *watchScript) expectRequests(t *testing.T, want ...*pb.WatchToolsRequest) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	equal := func(one, other *pb.WatchToolsRequest) bool { return proto.Equal(one, other) }
	if !slices.EqualFunc(s.requests, want, equal) {
		t.Errorf("got the requests %v, want %v", s.requests, want)
	}
}

func watchedFrom(revision uint64, id string) *pb.WatchToolsRequest {
	return &pb.WatchToolsRequest{Servers: []string{"s"}, AfterRevision: &revision, AfterId: id}
}

func checkpointResponse(revision uint64, id string) *pb.WatchToolsResponse {
	return &pb.WatchToolsResponse{Event: &pb.WatchToolsResponse_Checkpoint{
		Checkpoint: &pb.RevisionCheckpoint{Revision: revision, Id: id},
	}}
}

// changeResponse returns a change, or a part of one, that registered and deleted a tool each.
func changeResponse(revision uint64, id, registered, deleted string, continued bool) *pb.WatchToolsResponse {
	return &pb.WatchToolsResponse{Event: &pb.WatchToolsResponse_Change{Change: &pb.ToolsChange{
		Revision:   revision,
		Id:         id,
		Server:     "s",
		Registered: []*pb.Tool{{Server: "s", Name: registered, Json: []byte("{}")}},
		Deleted:    []string{deleted},
		Continued:  continued,
	}}}
}

// takeEvents returns the first count events, or those before the error.
func takeEvents(events iter.Seq2[sidecheck.WatchEvent, error], count int) ([]sidecheck.WatchEvent, error) {
	var taken []sidecheck.WatchEvent
	for event, err := range events {
		if err != nil {
			return taken, err
		}
		if taken = append(taken, event); len(taken) == count {
			break
		}
	}
	return taken, nil
}

func TestLostWatchGoesOnWhereItWas(t *testing.T) {
	script := &watchScript{streams: []scriptedWatch{
		{[]*pb.WatchToolsResponse{
			checkpointResponse(3, "id 3"),
			changeResponse(4, "id 4", "a", "x", false),
			changeResponse(5, "id 5", "b", "y", true),
		}, status.Error(codes.Unavailable, "lost")},
		{nil, status.Error(codes.Internal, "from a proxy")},
		{[]*pb.WatchToolsResponse{
			changeResponse(5, "id 5", "b", "y", true),
			changeResponse(5, "id 5", "c", "z", false),
			changeResponse(6, "id 6", "d", "w", false),
		}, nil},
		{[]*pb.WatchToolsResponse{checkpointResponse(6, "id 6")}, nil},
	}}
	client := sidechecktest.Open(t, script.serve(t), nil)
	events, err := takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{Servers: []string{"s"}}), 5)
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string) *sidecheck.Tool {
		return &sidecheck.Tool{Server: "s", Name: name, JSON: sidecheck.JSON("{}")}
	}
	want := []sidecheck.WatchEvent{
		sidecheck.Checkpoint{3, "id 3"},
		sidecheck.ToolsChange{4, "id 4", "s", []*sidecheck.Tool{tool("a")}, []string{"x"}},
		sidecheck.ToolsChange{5, "id 5", "s", []*sidecheck.Tool{tool("b"), tool("c")}, []string{"y", "z"}},
		sidecheck.ToolsChange{6, "id 6", "s", []*sidecheck.Tool{tool("d")}, []string{"w"}},
		sidecheck.Checkpoint{6, "id 6"},
	}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("got %+v, want %+v", events, want)
	}
	script.expectRequests(t, &pb.WatchToolsRequest{Servers: []string{"s"}},
		watchedFrom(4, "id 4"), watchedFrom(4, "id 4"), watchedFrom(6, "id 6"))
}

func TestErrorsThatWouldComeAgainEndAWatch(t *testing.T) {
	for name, test := range map[string]struct {
		stream      scriptedWatch
		reason      string
		unavailable bool
	}{
		"compacted": {
			scriptedWatch{err: sidechecktest.Failure(codes.OutOfRange, "COMPACTED", nil)}, "COMPACTED", false,
		},
		"permission denied": {
			scriptedWatch{err: status.Error(codes.PermissionDenied, "no")}, "PERMISSION_DENIED", true,
		},
		"unauthenticated": {
			scriptedWatch{err: status.Error(codes.Unauthenticated, "no")}, "UNAUTHENTICATED", true,
		},
		"unimplemented": {
			scriptedWatch{err: status.Error(codes.Unimplemented, "no")}, "UNIMPLEMENTED", true,
		},
		"no event": {
			scriptedWatch{responses: []*pb.WatchToolsResponse{{}}}, "INVALID_RESPONSE", false,
		},
		"no definition": {
			scriptedWatch{responses: []*pb.WatchToolsResponse{{Event: &pb.WatchToolsResponse_Change{
				Change: &pb.ToolsChange{Registered: []*pb.Tool{{Name: "a"}}},
			}}}}, "INVALID_RESPONSE", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := &watchScript{streams: []scriptedWatch{test.stream}}
			client := sidechecktest.Open(t, script.serve(t), nil)
			events, err := takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{
				Servers: []string{"s"}, After: &sidecheck.Checkpoint{0, "id 0"},
			}), 1)
			var failure *sidecheck.Error
			if !errors.As(err, &failure) || failure.Reason != test.reason || len(events) > 0 {
				t.Fatalf("got %+v, %v, want %s", events, err, test.reason)
			}
			var unavailable *sidecheck.UnavailableError
			if errors.As(err, &unavailable) != test.unavailable {
				t.Errorf("got a %T", err)
			}
			script.expectRequests(t, watchedFrom(0, "id 0"))
		})
	}
}

func TestServerThatIsNotFoundAgainIsAnError(t *testing.T) {
	client := sidechecktest.Open(t, "127.0.0.1:1", nil)
	var unavailable *sidecheck.UnavailableError
	_, err := takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{Patience: 200 * time.Millisecond}), 1)
	if !errors.As(err, &unavailable) || unavailable.Err.Reason != "UNAVAILABLE" {
		t.Errorf("got %v", err)
	}
	client = sidechecktest.Open(t, (&watchScript{streams: make([]scriptedWatch, 1)}).serve(t), nil)
	_, err = takeEvents(client.Watch(t.Context(), &sidecheck.WatchOptions{Patience: time.Nanosecond}), 1)
	if !errors.As(err, &unavailable) || unavailable.Err.Reason != "UNAVAILABLE" {
		t.Errorf("after the end of a stream: got %v", err)
	}
}

func TestInvalidOptionsOfAWatch(t *testing.T) {
	client := sidechecktest.Open(t, "127.0.0.1:1", nil)
	for name, options := range map[string]sidecheck.WatchOptions{
		"patience":               {Patience: -time.Second},
		"name that is not UTF-8": {Servers: []string{"\xff"}},
	} {
		if _, err := takeEvents(client.Watch(t.Context(), &options), 1); !errors.Is(err, sidecheck.ErrInvalidArgument) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
