// Command open_loop calls a unary method at a fixed rate, whether or not earlier calls have
// ended, or as fast as a number of callers can, and prints as JSON how the calls ended.
//
// Latencies count from the time at which a call was due. Calls that have not ended when
// the time is over are abandoned and counted apart.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// The retry policy of Sidecheck's clients.
const serviceConfig = `{"methodConfig": [{"name": [{}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.01s", "maxBackoff": "1s", "backoffMultiplier": 4,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// Calls that one process has at most without an answer.
const maxOpen = 20_000

// rawCodec passes messages as the bytes that they are.
type rawCodec struct{}

func (rawCodec) Name() string                        { return "proto" }
func (rawCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = slices.Clone(data)
	return nil
}

type result struct {
	// Calls by status.
	Statuses map[string]int `json:"statuses"`
	// Calls that were abandoned at the end, and those that were due while too many were open.
	Abandoned int `json:"abandoned"`
	NotMade   int `json:"not_made"`
	// Successful calls that ended before their deadlines, by the second in which they did.
	InTime []int `json:"in_time"`
	// Percentiles of the latency of successful calls, in milliseconds: of all, and the 99th of
	// those of each second.
	P50       float64   `json:"p50"`
	P99       float64   `json:"p99"`
	Max       float64   `json:"max"`
	SecondP99 []float64 `json:"second_p99"`
	Seconds   float64   `json:"seconds"`
}

type load struct {
	connections []*grpc.ClientConn
	path        string
	request     []byte
	deadline    time.Duration
	begun       time.Time
	ended       atomic.Bool

	mutex     sync.Mutex
	result    result
	latencies [][]float64
}

func (load *load) call(ctx context.Context, number int, due time.Time) {
	if load.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, due.Add(load.deadline))
		defer cancel()
	}
	var response []byte
	connection := load.connections[number%len(load.connections)]
	err := connection.Invoke(ctx, load.path, &load.request, &response, grpc.ForceCodec(rawCodec{}))
	load.count(due, time.Now(), err)
}

func (load *load) count(due, end time.Time, err error) {
	load.mutex.Lock()
	defer load.mutex.Unlock()
	if load.ended.Load() {
		load.result.Abandoned++
		return
	}
	load.result.Statuses[status.Code(err).String()]++
	if err != nil {
		return
	}
	second := int(end.Sub(load.begun).Seconds())
	for len(load.latencies) <= second {
		load.latencies = append(load.latencies, nil)
		load.result.InTime = append(load.result.InTime, 0)
	}
	latency := end.Sub(due)
	load.latencies[second] = append(load.latencies[second], float64(latency)/1e6)
	if load.deadline == 0 || latency <= load.deadline {
		load.result.InTime[second]++
	}
}

// offer makes rate calls a second until the end.
func (load *load) offer(ctx context.Context, rate float64, seconds time.Duration, done *sync.WaitGroup) {
	var open atomic.Int64
	for number := 0; ; number++ {
		due := load.begun.Add(time.Duration(float64(number) / rate * 1e9))
		if due.Sub(load.begun) >= seconds {
			return
		}
		time.Sleep(time.Until(due))
		if open.Add(1) > maxOpen {
			open.Add(-1)
			load.result.NotMade++
			continue
		}
		done.Go(func() {
			load.call(ctx, number, due)
			open.Add(-1)
		})
	}
}

// repeat has callers who make the next call when the last one has ended.
func (load *load) repeat(ctx context.Context, callers int, seconds time.Duration, done *sync.WaitGroup) {
	for caller := range callers {
		done.Go(func() {
			for time.Since(load.begun) < seconds {
				load.call(ctx, caller, time.Now())
			}
		})
	}
	done.Wait()
}

func (load *load) summarize() result {
	var all []float64
	for _, latencies := range load.latencies {
		slices.Sort(latencies)
		load.result.SecondP99 = append(load.result.SecondP99, percentile(latencies, 0.99))
		all = append(all, latencies...)
	}
	slices.Sort(all)
	load.result.P50, load.result.P99 = percentile(all, 0.5), percentile(all, 0.99)
	load.result.Max = percentile(all, 1)
	return load.result
}

func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(share*float64(len(sorted)-1))]
}

func main() {
	address := flag.String("address", "", "host:port")
	path := flag.String("path", "", "path of the method")
	body := flag.String("body", "", "file with the request; empty for an empty one")
	connections := flag.Int("connections", 1, "number of connections")
	deadline := flag.Duration("deadline", 0, "deadline of each call; 0 for none")
	seconds := flag.Duration("seconds", 10*time.Second, "how long to make calls")
	rate := flag.Float64("rate", 0, "calls a second")
	callers := flag.Int("callers", 0, "callers without a rate")
	flag.Parse()

	load := &load{path: *path, deadline: *deadline, result: result{Statuses: map[string]int{}}}
	if *body != "" {
		request, err := os.ReadFile(*body)
		if err != nil {
			log.Fatal(err)
		}
		load.request = request
	}
	for range *connections {
		connection, err := grpc.NewClient(*address,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultServiceConfig(serviceConfig))
		if err != nil {
			log.Fatal(err)
		}
		connection.Connect()
		load.connections = append(load.connections, connection)
	}
	time.Sleep(200 * time.Millisecond)
	load.begun = time.Now()
	ctx, abandon := context.WithCancel(context.Background())
	var done sync.WaitGroup
	if *callers > 0 {
		load.repeat(ctx, *callers, *seconds, &done)
	} else {
		load.offer(ctx, *rate, *seconds, &done)
	}
	load.result.Seconds = time.Since(load.begun).Seconds()
	// Those that have a deadline end by it.
	time.Sleep(*deadline)
	load.ended.Store(true)
	abandon()
	done.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(load.summarize()); err != nil {
		log.Fatal(err)
	}
}
