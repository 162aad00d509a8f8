package sidecheck_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
)

// A server with default settings accepts 32 calls of a connection at a time. gRPC queues what is
// beyond, but the server may still count a call whose end the client has seen, and refuse one.
func TestMoreCallsThanAConnectionMayHave(t *testing.T) {
	client := sidechecktest.Open(t, sidechecktest.RealServer(t), nil)
	for _, callers := range []int{64, 256} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			var running sync.WaitGroup
			for range callers {
				running.Go(func() {
					for range 10 {
						if verdict, err := client.Validate(t.Context(), schema, map[string]any{"q": "x"}, nil); err != nil {
							t.Error(err)
						} else if !verdict.Valid {
							t.Errorf("got %+v", verdict)
						}
					}
				})
			}
			running.Wait()
		})
	}
}
