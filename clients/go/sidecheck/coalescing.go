package sidecheck

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

const (
	// coalescedItems and coalescedBytes are the most that a shared batch has.
	coalescedItems = 256
	coalescedBytes = 256 << 10
	// largestShared is the most that the payload of a shared call has; others go alone.
	largestShared = 64 << 10
	// longestWait is how long a call waits for an outstanding request to return.
	longestWait = 2 * time.Millisecond
	// returnWait is how long a queue waits for the callers of the batch that returned, which
	// usually call again at once.
	returnWait = 500 * time.Microsecond
	// maxViolations is the number of violations of a verdict whose options name none.
	maxViolations = 20
)

// coalescer sends concurrent validations in shared batches. A call that finds none outstanding
// goes out at once, alone, as do large ones and those with metadata of their own. Others queue up
// until the outstanding request returns, the queue is full, or its oldest call has waited longest.
type coalescer struct {
	connection *connection

	mutex       sync.Mutex
	outstanding int
	queue       []*waitingCall
	queueBytes  int
	// expected is the size of the queue that need not wait for more callers; 0 while a request
	// is outstanding.
	expected int
	timer    *time.Timer
}

// waitingCall is a validation in the queue or in a batch.
type waitingCall struct {
	ctx     context.Context
	request *pb.ValidateRequest
	size    int
	// done receives the outcome, once. It has room for it, so that an abandoned call holds
	// nothing up.
	done chan Outcome
	// left is called when the caller gives up; nil while the call is in the queue.
	left func()
}

// validate returns the verdict on the payload in request, which may share a batch.
func (c *coalescer) validate(ctx context.Context, request *pb.ValidateRequest) (*Verdict, error) {
	size := elementBytes(request)
	// The metadata of a call, such as its credentials or its place in a trace, holds for no other.
	_, hasMetadata := metadata.FromOutgoingContext(ctx)
	if size > largestShared || hasMetadata {
		return c.connection.validate(ctx, request)
	}
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.connection.timeout)
		defer cancel()
	}
	c.mutex.Lock()
	if c.outstanding == 0 && len(c.queue) == 0 {
		c.outstanding++
		c.mutex.Unlock()
		defer c.returned(1)
		return c.connection.validate(ctx, request)
	}
	call := &waitingCall{ctx: ctx, request: request, size: size, done: make(chan Outcome, 1)}
	if c.queueBytes+size > coalescedBytes {
		c.flush()
	}
	c.queue = append(c.queue, call)
	c.queueBytes += size
	switch {
	case len(c.queue) >= coalescedItems || (c.expected > 0 && len(c.queue) >= c.expected):
		c.flush()
	case len(c.queue) == 1:
		c.wait(longestWait)
	}
	c.mutex.Unlock()
	return c.await(call)
}

// await returns the outcome of call, or the error of its context.
func (c *coalescer) await(call *waitingCall) (*Verdict, error) {
	select {
	case outcome := <-call.done:
		if outcome.Verdict == nil && outcome.Err == nil {
			// What the batch would tell otherwise than a single call is asked again.
			return c.connection.validate(call.ctx, call.request)
		}
		return outcome.Verdict, outcome.Err
	case <-call.ctx.Done():
	}
	c.mutex.Lock()
	left := call.left
	for index, queued := range c.queue {
		if queued == call {
			c.queue = append(c.queue[:index:index], c.queue[index+1:]...)
			c.queueBytes -= call.size
			break
		}
	}
	c.mutex.Unlock()
	if left != nil {
		left()
	}
	return nil, c.connection.contextError(call.ctx)
}

// wait flushes the queue after at most duration. It needs the mutex.
func (c *coalescer) wait(duration time.Duration) {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(duration, func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.flush()
	})
}

// returned notes that a request with count calls has returned.
func (c *coalescer) returned(count int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.outstanding--
	switch {
	case len(c.queue) == 0:
		c.expected = 0
	case count == 1 || len(c.queue) >= count:
		c.flush()
	default:
		c.expected = count
		c.wait(returnWait)
	}
}

// flush sends the queue as one batch. It needs the mutex.
func (c *coalescer) flush() {
	calls := c.queue
	c.queue, c.queueBytes, c.expected = nil, 0, 0
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if len(calls) == 0 {
		return
	}
	c.outstanding++
	// The batch has the latest deadline of its callers, and ends when none is left.
	var latest time.Time
	for _, call := range calls {
		if deadline, _ := call.ctx.Deadline(); deadline.After(latest) {
			latest = deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), latest)
	var mutex sync.Mutex
	callers := len(calls)
	for _, call := range calls {
		call.left = func() {
			mutex.Lock()
			defer mutex.Unlock()
			if callers--; callers == 0 {
				cancel()
			}
		}
	}
	go func() {
		defer cancel()
		c.send(ctx, calls)
		c.returned(len(calls))
	}()
}

// send settles calls with one request.
func (c *coalescer) send(ctx context.Context, calls []*waitingCall) {
	if len(calls) == 1 {
		verdict, err := c.connection.validate(ctx, calls[0].request)
		calls[0].done <- Outcome{verdict, err}
		return
	}
	request := sharedBatch(calls)
	limits, err := c.connection.serverLimits(ctx, c.connection.timeout)
	var outcomes []Outcome
	if err == nil && len(calls) <= int(limits.BatchItems) &&
		proto.Size(request) <= int(limits.MessageBytes) {
		outcomes, err = c.connection.validateBatch(ctx, request)
	}
	var unavailable *UnavailableError
	var failure *Error
	closed := errors.As(err, &failure) && failure.Reason == ReasonClientClosed
	for index, call := range calls {
		var outcome Outcome
		switch {
		case errors.As(err, &unavailable) || closed:
			outcome.Err = err
		case err == nil && len(outcomes) == len(calls) && isSame(call.request, outcomes[index]):
			outcome = outcomes[index]
		}
		call.done <- outcome
	}
}

// sharedBatch returns the batch of calls. A target, or options, that all have alike are sent once,
// as the default of the batch.
func sharedBatch(calls []*waitingCall) *pb.ValidateBatchRequest {
	first := calls[0].request
	batch := &pb.ValidateBatchRequest{
		Target: first.GetTarget(), Options: first.GetOptions(), MinRevision: first.GetMinRevision(),
		Items: make([]*pb.ValidateItem, len(calls)),
	}
	for _, call := range calls[1:] {
		batch.MinRevision = max(batch.MinRevision, call.request.GetMinRevision())
		if batch.Target != nil && !proto.Equal(call.request.GetTarget(), batch.Target) {
			batch.Target = nil
		}
		if batch.Options != nil && !proto.Equal(call.request.GetOptions(), batch.Options) {
			batch.Options = nil
		}
	}
	for index, call := range calls {
		item := &pb.ValidateItem{Subject: call.request.GetSubject()}
		if batch.Target == nil {
			item.Target = call.request.GetTarget()
		}
		if batch.Options == nil {
			item.Options = call.request.GetOptions()
		}
		batch.Items[index] = item
	}
	return batch
}

// isSame says whether a single call would have the outcome of an item of a batch: not if the
// item was not reached, or if the violations were fewer because of the other items.
func isSame(request *pb.ValidateRequest, outcome Outcome) bool {
	var failure *Error
	if errors.As(outcome.Err, &failure) {
		bound := failure.Metadata["bound"]
		return failure.Reason != ReasonLimitExceeded ||
			(bound != "request_steps" && bound != "offloaded_items")
	}
	asked := max(request.GetOptions().GetMaxViolations(), 1)
	if request.GetOptions().GetMaxViolations() == 0 {
		asked = maxViolations
	}
	verdict := outcome.Verdict
	return verdict == nil || !verdict.Truncated || len(verdict.Violations) >= int(asked)
}
