// Command coalescing measures single validations of one client, concurrent or one after the
// other, and prints a line of JSON: the number of calls, the seconds that they took in all, and
// the median of their latencies in microseconds.
//
// Usage: coalescing ADDRESS MODE CALLERS SECONDS, where MODE is unary, coalesced, lone or
// lone-coalesced. A lone caller makes one call after the other, whatever CALLERS is. The
// payload, in the file that SIDECHECK_BENCH_ARGUMENTS names, is validated against the
// registered tool git_log of the server bench.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// figures are the line that is printed.
type figures struct {
	Calls           int     `json:"calls"`
	Seconds         float64 `json:"seconds"`
	P50Microseconds float64 `json:"p50_microseconds"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "coalescing:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 4 {
		return errors.New("usage: coalescing ADDRESS MODE CALLERS SECONDS")
	}
	address, mode := arguments[0], arguments[1]
	if !slices.Contains([]string{"unary", "coalesced", "lone", "lone-coalesced"}, mode) {
		return fmt.Errorf("invalid mode %q", mode)
	}
	callers, err := strconv.Atoi(arguments[2])
	if err != nil {
		return err
	}
	if strings.HasPrefix(mode, "lone") {
		callers = 1
	}
	seconds, err := strconv.ParseFloat(arguments[3], 64)
	if err != nil {
		return err
	}
	payload, err := os.ReadFile(os.Getenv("SIDECHECK_BENCH_ARGUMENTS"))
	if err != nil {
		return err
	}
	client, err := sidecheck.NewClient(address, &sidecheck.ClientOptions{
		Timeout: 30 * time.Second, Coalesce: strings.HasSuffix(mode, "coalesced"),
	})
	if err != nil {
		return err
	}
	defer client.Close()
	measured, err := measure(client, payload, callers, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(measured)
}

// measure makes calls for so long.
func measure(
	client *sidecheck.Client, payload []byte, callers int, duration time.Duration,
) (figures, error) {
	if _, err := validate(client, payload); err != nil {
		return figures{}, err
	}
	type timed struct {
		latencies []time.Duration
		err       error
	}
	ended := make(chan timed)
	started := time.Now()
	for range callers {
		go func() {
			var caller timed
			for caller.err == nil && time.Since(started) < duration {
				var latency time.Duration
				latency, caller.err = validate(client, payload)
				caller.latencies = append(caller.latencies, latency)
			}
			ended <- caller
		}()
	}
	var latencies []time.Duration
	var failures error
	for range callers {
		caller := <-ended
		latencies = append(latencies, caller.latencies...)
		failures = errors.Join(failures, caller.err)
	}
	slices.Sort(latencies)
	return figures{
		Calls:           len(latencies),
		Seconds:         time.Since(started).Seconds(),
		P50Microseconds: float64(latencies[len(latencies)/2].Nanoseconds()) / 1e3,
	}, failures
}

// validate makes one call and returns how long it took.
func validate(client *sidecheck.Client, payload []byte) (time.Duration, error) {
	tool := sidecheck.RegisteredTool{Server: "bench", Name: "git_log"}
	started := time.Now()
	verdict, err := client.Validate(context.Background(), tool, json.RawMessage(payload), nil)
	if err != nil {
		return 0, err
	}
	return time.Since(started), verdict.Err()
}
