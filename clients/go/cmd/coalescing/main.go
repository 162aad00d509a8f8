// Command coalescing loads a Sidecheck server with validations of one registered tool and prints
// one line of JSON with their number, the time and the median of their durations.
//
// Usage: coalescing ADDRESS MODE CALLERS SECONDS, where MODE is unary, coalesced, lone or
// lone-coalesced; the last two have one caller. The tool is git_log of the server bench, and
// SIDECHECK_BENCH_ARGUMENTS names the file with its arguments.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "coalescing:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 4 {
		return fmt.Errorf("usage: coalescing ADDRESS MODE CALLERS SECONDS")
	}
	address, mode := arguments[0], arguments[1]
	if !slices.Contains([]string{"unary", "coalesced", "lone", "lone-coalesced"}, mode) {
		return fmt.Errorf("the mode %q is unknown", mode)
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
	client, err := sidecheck.New(address, &sidecheck.ClientOptions{
		Timeout: time.Minute, Coalesce: strings.HasSuffix(mode, "coalesced"),
	})
	if err != nil {
		return err
	}
	defer client.Close()
	return load(client, payload, callers, time.Duration(seconds*float64(time.Second)))
}

// load lets callers validate payload one after another for a while, and prints the figures.
func load(client *sidecheck.Client, payload []byte, callers int, duration time.Duration) error {
	target := sidecheck.RegisteredTool{Server: "bench", Name: "git_log"}
	validate := func() error {
		verdict, err := client.Validate(context.Background(), target, payload, nil)
		if err == nil && !verdict.Valid {
			err = fmt.Errorf("the arguments are invalid: %w", verdict.Err())
		}
		return err
	}
	// The first call connects.
	if err := validate(); err != nil {
		return err
	}
	durations, failures := make([][]time.Duration, callers), make([]error, callers)
	started := time.Now()
	var running sync.WaitGroup
	for caller := range callers {
		running.Go(func() {
			for failures[caller] == nil && time.Since(started) < duration {
				before := time.Now()
				failures[caller] = validate()
				durations[caller] = append(durations[caller], time.Since(before))
			}
		})
	}
	running.Wait()
	elapsed := time.Since(started)
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	all := slices.Concat(durations...)
	if len(all) == 0 {
		return fmt.Errorf("there was no time for a call")
	}
	slices.Sort(all)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"calls":            len(all),
		"seconds":          elapsed.Seconds(),
		"p50_microseconds": float64(all[len(all)/2].Nanoseconds()) / 1000,
	})
}
