package sidecheck_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// validator and registrar are tokens of the server of startWithTokens, with a role each.
var validator, registrar = "sct_" + strings.Repeat("v", 43), "sct_" + strings.Repeat("r", 43)

// startWithTokens starts a real server that requires tokens, and returns its address.
func startWithTokens(t *testing.T) string {
	t.Helper()
	var entries strings.Builder
	for role, token := range map[string]string{"validate": validator, "register": registrar} {
		fmt.Fprintf(&entries, "[[tokens]]\nname = %q\nsha256 = \"%x\"\nroles = [%q]\n",
			role, sha256.Sum256([]byte(token)), role)
	}
	path := filepath.Join(t.TempDir(), "tokens.toml")
	if err := os.WriteFile(path, []byte(entries.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return sidechecktest.Start(t, "127.0.0.1:0", "--tokens-file", path).Address
}

// tokenSource returns tokens one after the other, and then the last again and again.
type tokenSource struct {
	tokens []string
	calls  atomic.Int32
}

func (s *tokenSource) next(context.Context) (string, error) {
	return s.tokens[min(int(s.calls.Add(1)), len(s.tokens))-1], nil
}

// open returns a client with the tokens of source, whose policy passes what no server answers.
func (s *tokenSource) open(t *testing.T, address string) *sidecheck.Client {
	t.Helper()
	return sidechecktest.Open(t, address, &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableAllow, TokenFunc: s.next,
	})
}

// requireReason fails the test unless err is an [*sidecheck.Error] with reason that is not about
// an absent server.
func requireReason(t *testing.T, err error, reason string) *sidecheck.Error {
	t.Helper()
	var failure *sidecheck.Error
	if !errors.As(err, &failure) || failure.Reason != reason {
		t.Fatalf("got %v, want %s", err, reason)
	}
	var unavailable *sidecheck.UnavailableError
	var lost *sidecheck.StreamUnavailableError
	if errors.As(err, &unavailable) || errors.As(err, &lost) {
		t.Fatalf("got a %T, as if no server had answered", err)
	}
	return failure
}

func TestServersThatRequireTokens(t *testing.T) {
	address := startWithTokens(t)

	t.Run("calls, streams and sessions carry the token", func(t *testing.T) {
		client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
			Timeout: sidechecktest.Patience, Token: validator,
		})
		if verdict, err := client.Validate(t.Context(), schema, nil, nil); err != nil || verdict.Valid {
			t.Errorf("got %+v, %v", verdict, err)
		}
		items := func(yield func(sidecheck.StreamItem) bool) {
			yield(sidecheck.StreamItem{ID: "1", Item: arguments(nil)})
		}
		for outcome, err := range client.ValidateStream(t.Context(), items, &sidecheck.StreamOptions{Target: schema}) {
			if err != nil || outcome.Verdict == nil {
				t.Errorf("got %+v, %v", outcome, err)
			}
		}
		session, err := client.Protocol.Session(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if _, err := session.Check(t.Context(), ping(1), sidecheck.SenderClient, 0); err != nil {
			t.Error(err)
		}
		// The generated stubs as well.
		if _, err := pb.NewInfoServiceClient(client.Channel()).GetServerInfo(
			t.Context(), &pb.GetServerInfoRequest{}); err != nil {
			t.Error(err)
		}
	})

	t.Run("each call has the token of that time", func(t *testing.T) {
		source := &tokenSource{tokens: []string{"old", validator}}
		client := source.open(t, address)
		_, err := client.Info(t.Context())
		requireReason(t, err, "UNAUTHENTICATED")
		if _, err := client.Info(t.Context()); err != nil {
			t.Error(err)
		}
		if calls := source.calls.Load(); calls != 2 {
			t.Errorf("got %d tokens for 2 calls", calls)
		}
	})

	t.Run("refused calls are not retried", func(t *testing.T) {
		source := &tokenSource{tokens: []string{"sct_wrong"}}
		_, err := source.open(t, address).Validate(t.Context(), schema, nil, nil)
		requireReason(t, err, "UNAUTHENTICATED")
		if calls := source.calls.Load(); calls != 1 {
			t.Errorf("the call had %d attempts", calls)
		}
	})

	t.Run("no token", func(t *testing.T) {
		client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
			Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableAllow,
		})
		_, err := client.Validate(t.Context(), schema, nil, nil)
		requireReason(t, err, "UNAUTHENTICATED")
	})

	t.Run("no role", func(t *testing.T) {
		source := &tokenSource{tokens: []string{registrar}}
		client := source.open(t, address)
		_, err := client.Validate(t.Context(), schema, nil, nil)
		if failure := requireReason(t, err, "PERMISSION_DENIED"); failure.Metadata["role"] != "validate" {
			t.Errorf("got %+v", failure)
		}
		if calls := source.calls.Load(); calls != 1 {
			t.Errorf("the call had %d attempts", calls)
		}
	})

	t.Run("a refused stream", func(t *testing.T) {
		// The first token is for the limits of the server.
		source := &tokenSource{tokens: []string{validator, "sct_wrong"}}
		session, err := source.open(t, address).Protocol.Session(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		_, err = session.Check(t.Context(), ping(1), sidecheck.SenderClient, 0)
		requireReason(t, err, "UNAUTHENTICATED")
	})
}

func TestSharedBatchesCarryTheToken(t *testing.T) {
	var mutex sync.Mutex
	headers := map[string]int{}
	shared := make(chan struct{})
	entered := make(chan struct{})
	var once sync.Once
	standIn := &sidechecktest.StandIn{
		OnValidate: func(ctx context.Context, request *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			if string(request.GetSubject().GetArguments()) == `"hold"` {
				close(entered)
				select {
				case <-shared:
				case <-ctx.Done():
				}
			}
			return sidechecktest.Valid(), ctx.Err()
		},
		OnBatch: func(_ context.Context, request *pb.ValidateBatchRequest) (*pb.ValidateBatchResponse, error) {
			once.Do(func() { close(shared) })
			return sidechecktest.AllValid(request), nil
		},
	}
	address := standIn.Serve(t, grpc.UnaryInterceptor(func(
		ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
	) (any, error) {
		received, _ := metadata.FromIncomingContext(ctx)
		mutex.Lock()
		headers[fmt.Sprint(info.FullMethod, received["authorization"])]++
		mutex.Unlock()
		return handler(ctx, request)
	}))
	client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, Token: validator, Coalesce: true,
	})
	validate := func(payload any) func() {
		return func() {
			if _, err := client.Validate(t.Context(), schema, payload, nil); err != nil {
				t.Error(err)
			}
		}
	}
	var held sync.WaitGroup
	held.Go(validate("hold"))
	<-entered
	// On a busy machine they may come one by one.
	for started, done := time.Now(), false; !done && time.Since(started) < sidechecktest.Patience; {
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(validate(nil))
		}
		calls.Wait()
		select {
		case <-shared:
			done = true
		default:
		}
	}
	held.Wait()
	if headers["/sidecheck.v1.ValidationService/ValidateBatch[Bearer "+validator+"]"] == 0 {
		t.Error("no batch has the token")
	}
	for header := range headers {
		if !strings.HasSuffix(header, "[Bearer "+validator+"]") {
			t.Errorf("got %s", header)
		}
	}
}

func TestTokensPassTLS(t *testing.T) {
	conformance := sidechecktest.Load(t)
	source := &tokenSource{tokens: []string{validator}}
	client := sidechecktest.Open(t, conformance.Servers["tls"], &sidecheck.ClientOptions{
		Timeout: sidechecktest.Patience, TLS: conformance.Security(t), TokenFunc: source.next,
	})
	if _, err := client.Info(t.Context()); err != nil || source.calls.Load() == 0 {
		t.Errorf("got %v after %d tokens", err, source.calls.Load())
	}
}

func TestCallsWithoutATokenAreNotSent(t *testing.T) {
	var calls atomic.Int32
	address := (&sidechecktest.StandIn{
		OnValidate: func(context.Context, *pb.ValidateRequest) (*pb.ValidateResponse, error) {
			calls.Add(1)
			return sidechecktest.Valid(), nil
		},
	}).Serve(t)
	for name, test := range map[string]struct {
		token string
		err   error
		want  error
	}{
		"failure":         {"", os.ErrNotExist, os.ErrNotExist},
		"end of a file":   {"", io.EOF, io.EOF},
		"malformed token": {validator + "\n", nil, sidecheck.ErrInvalidArgument},
		"no token":        {"", nil, sidecheck.ErrInvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
				Timeout: sidechecktest.Patience, OnUnavailable: sidecheck.OnUnavailableAllow,
				TokenFunc: func(context.Context) (string, error) { return test.token, test.err },
			})
			_, err := client.Validate(t.Context(), schema, nil, nil)
			if !errors.Is(err, test.want) || strings.Contains(err.Error(), validator) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if _, err := client.Protocol.Session(t.Context(), nil); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	t.Run("stream", func(t *testing.T) {
		// The first token is for the limits of the server.
		var asked atomic.Int32
		client := sidechecktest.Open(t, address, &sidecheck.ClientOptions{
			Timeout: sidechecktest.Patience,
			TokenFunc: func(context.Context) (string, error) {
				if asked.Add(1) > 1 {
					return "", os.ErrNotExist
				}
				return validator, nil
			},
		})
		if _, err := client.Protocol.Session(t.Context(), nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v, want %v", err, os.ErrNotExist)
		}
	})
	if calls.Load() != 0 {
		t.Errorf("%d calls were sent", calls.Load())
	}
}
