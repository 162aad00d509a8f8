package sidecheck

import (
	"context"
	"errors"
	"io"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// connection makes the calls of one client; its groups of methods share it.
type connection struct {
	channel       *grpc.ClientConn
	server        *peer
	timeout       time.Duration
	onUnavailable OnUnavailable
	// protocolVersion is that of requests that name none; empty leaves it to the server.
	protocolVersion string

	// minRevision is the least revision of the registry that requests read.
	minRevision atomic.Uint64

	limits atomic.Pointer[Limits]
	// closed is closed with the client.
	closed  chan struct{}
	closing sync.Once
}

// close closes the connection. Further calls do nothing.
func (c *connection) close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = c.channel.Close()
	})
	return err
}

// isClosed says whether the client was closed.
func (c *connection) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// call sends request to method and decodes the response. Without a deadline of ctx, that of the
// client applies.
func (c *connection) call(ctx context.Context, method string, request, response proto.Message) error {
	return c.callWithin(ctx, c.timeout, method, request, response)
}

// callWithin is call with another timeout, for a ctx without a deadline.
func (c *connection) callWithin(
	ctx context.Context, timeout time.Duration, method string, request, response proto.Message,
) error {
	if c.isClosed() {
		return clientClosed()
	}
	callCtx := ctx
	if _, hasDeadline := ctx.Deadline(); !hasDeadline {
		var cancel context.CancelFunc
		callCtx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	sent, err := encodeRequest(request)
	if err != nil {
		return err
	}
	received := &incoming{message: response}
	err = c.channel.Invoke(callCtx, method, sent, received, withCodec)
	// Each of these calls has the retries and pauses of the service config.
	for isUnprocessed(err) {
		if ended := callCtx.Err(); ended != nil {
			err = status.FromContextError(ended).Err()
			break
		}
		err = c.channel.Invoke(callCtx, method, sent, received, withCodec)
	}
	if err != nil {
		return c.failure(ctx, err)
	}
	c.server.hasAnswered.Store(true)
	return received.fault
}

// isUnprocessed says whether the server has done no work on a call that failed with err, so that it
// may be sent again as often as the deadline allows.
//
// A server at its limit of streams refuses one before any work on it (RFC 9113, section 8.7). It
// happens to clients that have as many calls as the limit, because a server may count a stream for
// longer than its client does. If a stream ends before the request is written, and it is not that
// of the first attempt, gRPC reports EOF in place of its status.
func isUnprocessed(err error) bool {
	var unsent *tokenError
	if errors.As(err, &unsent) {
		return false
	}
	return err != nil && (errors.Is(err, io.EOF) || streamRefused.MatchString(err.Error()))
}

// streamRefused finds how gRPC reports a stream that the server refused.
var streamRefused = regexp.MustCompile(`RST_STREAM with error code: REFUSED_STREAM$`)

// failure returns the error for a call that gRPC reports as failed with err.
func (c *connection) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	var unsent *tokenError
	if errors.As(err, &unsent) {
		return unsent
	}
	failure := decodeCallError(err, c.server)
	var unavailable *UnavailableError
	if c.isClosed() && errors.As(failure, &unavailable) {
		return clientClosed()
	}
	var reported *Error
	if errors.As(failure, &reported) && reported.Reason == ReasonLimitExceeded {
		// The server may have been replaced by one with lower limits.
		c.limits.Store(nil)
	}
	return failure
}

// contextError returns the error for a caller whose context has ended.
func (c *connection) contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return decodeCallError(status.FromContextError(context.DeadlineExceeded).Err(), c.server)
}

// fallback returns the verdict that the policy prescribes for err, or err itself if the policy
// does not apply to it.
func (c *connection) fallback(err error) (*Verdict, error) {
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		return nil, err
	}
	violation := Violation{
		Code: CodeUnavailable, Severity: SeverityError, Message: "not validated: " + unavailable.Error(),
	}
	switch c.onUnavailable {
	case OnUnavailableAllow:
		violation.Severity = SeverityWarning
		return &Verdict{Valid: true, Enforced: true, Violations: []Violation{violation}}, nil
	case OnUnavailableDeny:
		return &Verdict{
			Enforced: true, Violations: []Violation{violation}, ToolErrorText: deniedText,
		}, nil
	}
	return nil, err
}

// info returns what the server says of itself, and stores its limits.
func (c *connection) info(ctx context.Context, timeout time.Duration) (*ServerInfo, error) {
	var response pb.GetServerInfoResponse
	err := c.callWithin(ctx, timeout, pb.InfoService_GetServerInfo_FullMethodName,
		&pb.GetServerInfoRequest{}, &response)
	if err != nil {
		return nil, err
	}
	if response.GetLimits() == nil {
		return nil, missingField(&response, "limits")
	}
	info := decodeServerInfo(&response)
	c.limits.Store(&info.Limits)
	return &info, nil
}

// serverLimits returns the limits of the server, which are fetched once.
func (c *connection) serverLimits(ctx context.Context, timeout time.Duration) (*Limits, error) {
	if limits := c.limits.Load(); limits != nil {
		return limits, nil
	}
	info, err := c.info(ctx, timeout)
	if err != nil {
		return nil, err
	}
	return &info.Limits, nil
}

// batchCall describes the requests of a batch with items of the type M and outcomes of the
// type O.
type batchCall[M proto.Message, O any] struct {
	// overhead is the size of a request without items, in bytes.
	overhead int
	// send returns the outcomes of some items.
	send func(ctx context.Context, items []M) ([]O, error)
	// failed returns the outcome of an item that has the error err.
	failed func(err error) O
	// errorOf returns the error of an item, or nil.
	errorOf func(outcome O) error
	// settle returns an outcome with the policy applied to it.
	settle func(outcome O) O
}

// callInParts returns the outcomes of items, sent in as many requests as the limits of the
// server require. If the server becomes unavailable, that is the outcome of all remaining items,
// with the policy applied: their parts are not tried, as each would cost another deadline.
func callInParts[M proto.Message, O any](
	ctx context.Context, c *connection, items []M, batch batchCall[M, O],
) ([]O, error) {
	outcomes := make([]O, 0, len(items))
	if len(items) == 0 {
		return outcomes, nil
	}
	limits, err := c.serverLimits(ctx, c.timeout)
	if err == nil {
		room := int(limits.MessageBytes) - batch.overhead
		for _, part := range split(items, room, int(limits.BatchItems)) {
			if size := elementBytes(part[0]); size > room {
				outcomes = append(outcomes, batch.failed(itemTooLarge(size, limits)))
				continue
			}
			var settled []O
			if settled, err = batch.sendPart(ctx, part); err != nil {
				break
			}
			for _, outcome := range settled {
				outcomes = append(outcomes, batch.settle(outcome))
			}
		}
	}
	if err != nil {
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) {
			return nil, err
		}
		for len(outcomes) < len(items) {
			outcomes = append(outcomes, batch.settle(batch.failed(err)))
		}
	}
	return outcomes, nil
}

// sendPart returns the outcomes of items. Those whose worker crashed are sent once again.
func (b batchCall[M, O]) sendPart(ctx context.Context, items []M) ([]O, error) {
	outcomes, err := b.sendItems(ctx, items)
	if err != nil {
		return nil, err
	}
	var crashed []int
	var again []M
	for index, outcome := range outcomes {
		var failure *Error
		if errors.As(b.errorOf(outcome), &failure) && failure.Reason == ReasonWorkerCrashed {
			crashed, again = append(crashed, index), append(again, items[index])
		}
	}
	if len(crashed) == 0 {
		return outcomes, nil
	}
	answers, err := b.sendItems(ctx, again)
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		return outcomes, nil
	}
	if err != nil {
		return nil, err
	}
	for position, index := range crashed {
		outcomes[index] = answers[position]
	}
	return outcomes, nil
}

func (b batchCall[M, O]) sendItems(ctx context.Context, items []M) ([]O, error) {
	outcomes, err := b.send(ctx, items)
	if err != nil {
		return nil, err
	}
	if len(outcomes) != len(items) {
		return nil, invalidResponse("the response has %d outcomes for %d items",
			len(outcomes), len(items))
	}
	return outcomes, nil
}

// split returns parts of items within both limits; an item that does not fit has its own.
func split[M proto.Message](items []M, maxBytes, maxItems int) [][]M {
	var parts [][]M
	start, total := 0, 0
	for index, item := range items {
		size := elementBytes(item)
		if index > start && (total+size > maxBytes || index-start >= maxItems) {
			parts = append(parts, items[start:index])
			start, total = index, 0
		}
		total += size
	}
	return append(parts, items[start:])
}

// elementBytes returns the size of message as an element of a repeated field: with its tag, one
// byte for the field numbers in use, and its length.
func elementBytes(message proto.Message) int {
	return 1 + protowire.SizeBytes(proto.Size(message))
}

func missingField(message proto.Message, field string) error {
	return invalidResponse("%s.%s is missing in the response",
		message.ProtoReflect().Descriptor().Name(), field)
}

func requireCount(message proto.Message, field string, count, expected int) error {
	if count == expected {
		return nil
	}
	return invalidResponse("%s.%s has %d elements for %d items",
		message.ProtoReflect().Descriptor().Name(), field, count, expected)
}
