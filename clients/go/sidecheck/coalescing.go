package sidecheck

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

const (
	// maxSharedBytes is the size of a request over which it goes alone.
	maxSharedBytes = 64 << 10
	// maxQueueItems and maxQueueBytes are what fills a batch.
	maxQueueItems = 256
	maxQueueBytes = 256 << 10
	// maxQueueWait is the longest wait in the queue while another request is outstanding.
	maxQueueWait = 2 * time.Millisecond
	// maxReturnWait is how long the callers of a batch that returned may take to call again.
	maxReturnWait = 500 * time.Microsecond
)

// batchBounds are the limits on what a batch may need as a whole.
var batchBounds = []string{"batch_items", "message_bytes", "offloaded_items", "request_steps"}

// coalescer sends the validations of concurrent callers together.
//
// A call that finds none outstanding is made at once, as it is without this type. Those that
// come while requests are outstanding wait in a queue, which becomes a batch when a request
// returns, when it is full, or when its first call has waited long enough.
//
// What a batch tells otherwise than a single call, and errors of the batch as a whole, are not
// passed on: the callers that they concern make single calls.
type coalescer struct {
	connection *connection

	// mutex guards what follows.
	mutex sync.Mutex
	// outstanding is the number of single calls and batches without a response.
	outstanding int
	queue       []*queuedCall
	queueBytes  int
	// expected is the length at which the queue is sent while the callers of a batch that
	// has returned may call again, else 0.
	expected int
	// timers send the queue in time. One that fires although it was stopped sends the next
	// queue early, which is harmless.
	queueTimer, returnTimer *time.Timer
}

// queuedCall is a validation that waits for its turn or for its batch.
type queuedCall struct {
	item     *sidecheckv1.ValidateItem
	size     int
	deadline time.Time
	// outcome has room for the outcome, or for none if the caller has to make a call of its
	// own.
	outcome chan ValidateOutcome
	// batch is nil while the call is in the queue.
	batch *sharedBatch
}

// sharedBatch is a batch that is outstanding.
type sharedBatch struct {
	calls []*queuedCall
	// waiting is the number of calls whose callers have not left.
	waiting int
	cancel  context.CancelFunc
}

func newCoalescer(c *connection) *coalescer { return &coalescer{connection: c} }

// validate returns the verdict on one payload.
func (c *coalescer) validate(
	ctx context.Context, item *sidecheckv1.ValidateItem,
) (*Verdict, error) {
	size := elementSize(item)
	if _, ok := metadata.FromOutgoingContext(ctx); ok || size > maxSharedBytes {
		// A batch has no metadata of one caller.
		return c.connection.validate(ctx, item)
	}
	c.mutex.Lock()
	if c.outstanding == 0 && c.expected == 0 {
		c.outstanding++
		c.mutex.Unlock()
		defer c.returned(1)
		return c.connection.validate(ctx, item)
	}
	callCtx, cancel := withDeadline(ctx, c.connection.timeout)
	defer cancel()
	call := &queuedCall{item: item, size: size, outcome: make(chan ValidateOutcome, 1)}
	call.deadline, _ = callCtx.Deadline()
	c.enqueue(call)
	c.mutex.Unlock()
	select {
	case outcome := <-call.outcome:
		if outcome != (ValidateOutcome{}) {
			return outcome.Verdict, outcome.Err
		}
	case <-callCtx.Done():
		c.leave(call)
		return nil, c.connection.decodeFailure(ctx, callCtx.Err())
	}
	c.mutex.Lock()
	c.outstanding++
	c.mutex.Unlock()
	defer c.returned(1)
	return c.connection.validate(callCtx, item)
}

// close ends the calls in the queue; closing the connection ends those that were sent.
func (c *coalescer) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, call := range c.takeQueue() {
		call.outcome <- ValidateOutcome{Err: clientClosed()}
	}
}

// enqueue adds a call to the queue. The mutex is held.
func (c *coalescer) enqueue(call *queuedCall) {
	c.queue = append(c.queue, call)
	c.queueBytes += call.size
	full := maxQueueItems
	if c.expected > 0 {
		full = c.expected
	}
	if len(c.queue) >= full || c.queueBytes >= maxQueueBytes {
		c.flush()
	} else if len(c.queue) == 1 {
		c.queueTimer = time.AfterFunc(maxQueueWait, c.flushLate)
	}
}

// returned notes that a request of so many callers has ended, before it wakes them.
func (c *coalescer) returned(callers int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.outstanding--
	switch {
	case c.expected > 0:
		c.expected = min(c.expected+callers, maxQueueItems)
	case callers > 1:
		c.expected = min(len(c.queue)+callers, maxQueueItems)
		c.returnTimer = time.AfterFunc(maxReturnWait, c.flushLate)
	default:
		c.flush()
	}
}

func (c *coalescer) flushLate() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.flush()
}

// flush sends what is in the queue. The mutex is held.
func (c *coalescer) flush() {
	calls := c.takeQueue()
	switch len(calls) {
	case 0:
	case 1:
		calls[0].outcome <- ValidateOutcome{}
	default:
		c.outstanding++
		latest := slices.MaxFunc(calls, func(a, b *queuedCall) int {
			return a.deadline.Compare(b.deadline)
		})
		ctx, cancel := context.WithDeadline(context.Background(), latest.deadline)
		batch := &sharedBatch{calls: calls, waiting: len(calls), cancel: cancel}
		for _, call := range calls {
			call.batch = batch
		}
		go c.send(ctx, batch)
	}
}

// takeQueue returns the queue and leaves an empty one. The mutex is held.
func (c *coalescer) takeQueue() []*queuedCall {
	calls := c.queue
	c.queue, c.queueBytes, c.expected = nil, 0, 0
	for _, timer := range []*time.Timer{c.queueTimer, c.returnTimer} {
		if timer != nil {
			timer.Stop()
		}
	}
	c.queueTimer, c.returnTimer = nil, nil
	return calls
}

// leave takes a call whose caller has left out of the queue; the last of a batch cancels it.
func (c *coalescer) leave(call *queuedCall) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if call.batch != nil {
		if call.batch.waiting--; call.batch.waiting == 0 {
			call.batch.cancel()
		}
	} else if index := slices.Index(c.queue, call); index >= 0 {
		c.queue = slices.Delete(c.queue, index, index+1)
		c.queueBytes -= call.size
	}
}

// send sends a batch and gives its callers their outcomes.
func (c *coalescer) send(ctx context.Context, batch *sharedBatch) {
	defer batch.cancel()
	items := make([]*sidecheckv1.ValidateItem, len(batch.calls))
	for index, call := range batch.calls {
		items[index] = call.item
	}
	outcomes, err := callInParts(
		ctx, c.connection, items, &sidecheckv1.ValidateBatchRequest{},
		func(ctx context.Context, items []*sidecheckv1.ValidateItem) ([]ValidateOutcome, error) {
			return c.connection.validateBatch(ctx, jointBatch(items))
		},
		func(err error) ValidateOutcome { return ValidateOutcome{Err: err} },
	)
	c.mutex.Lock()
	callers := batch.waiting
	c.mutex.Unlock()
	c.returned(callers)
	for index, call := range batch.calls {
		outcome := ValidateOutcome{}
		// An error of the batch as a whole says nothing of this item.
		if err == nil && !dependsOnBatch(outcomes[index], call.item) {
			outcome = outcomes[index]
		}
		call.outcome <- outcome
	}
}

// jointBatch returns the request for items. A target and options that all of them have alike
// are sent once, so that the server reads and looks them up once.
func jointBatch(items []*sidecheckv1.ValidateItem) *sidecheckv1.ValidateBatchRequest {
	first := items[0]
	for _, item := range items[1:] {
		if !proto.Equal(item.Target, first.Target) || !proto.Equal(item.Options, first.Options) {
			return &sidecheckv1.ValidateBatchRequest{Items: items}
		}
	}
	joint := &sidecheckv1.ValidateBatchRequest{Target: first.Target, Options: first.Options}
	for _, item := range items {
		joint.Items = append(joint.Items, &sidecheckv1.ValidateItem{Subject: item.Subject})
	}
	return joint
}

// dependsOnBatch reports whether outcome may be due to the other items of its batch. A single
// call may then have another: the item was not reached, or its verdict lists less than it
// would on its own.
func dependsOnBatch(outcome ValidateOutcome, item *sidecheckv1.ValidateItem) bool {
	if failure, ok := outcome.Err.(*Error); ok {
		return failure.Reason == "LIMIT_EXCEEDED" &&
			slices.Contains(batchBounds, failure.Metadata["bound"])
	}
	wanted := int(item.GetOptions().GetMaxViolations())
	if wanted == 0 {
		wanted = 20
	}
	switch item.GetOptions().GetDetail() {
	case sidecheckv1.Detail_DETAIL_VERDICT_ONLY:
		wanted = 0
	case sidecheckv1.Detail_DETAIL_FIRST:
		wanted = 1
	}
	verdict := outcome.Verdict
	return verdict.Truncated && len(verdict.Violations) < wanted ||
		verdict.Repair != nil && verdict.Repair.Truncated && len(verdict.Repair.Violations) < wanted
}
