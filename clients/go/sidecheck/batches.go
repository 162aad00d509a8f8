package sidecheck

import (
	"context"
	"errors"
	"math/bits"

	"google.golang.org/protobuf/proto"
)

// callInParts returns the outcomes of items, sent in as many requests as the limits of the
// server require. frame is a request without items, fail the outcome for an error of an item,
// with the policy applied. If no server answers any more, that is the outcome of each of the
// remaining items.
func callInParts[Item proto.Message, Outcome any](
	ctx context.Context,
	c *connection,
	items []Item,
	frame proto.Message,
	send func(context.Context, []Item) ([]Outcome, error),
	fail func(error) Outcome,
) ([]Outcome, error) {
	if len(items) == 0 {
		return nil, nil
	}
	outcomes := make([]Outcome, 0, len(items))
	err := func() error {
		limits, err := c.serverLimits(ctx, c.timeout)
		if err != nil {
			return err
		}
		room := int(limits.MessageBytes) - proto.Size(frame)
		for _, part := range split(items, room, int(limits.BatchItems)) {
			if size := elementSize(part[0]); size > room {
				outcomes = append(outcomes, fail(tooLarge(size, limits)))
				continue
			}
			answered, err := send(ctx, part)
			if err != nil {
				return err
			}
			outcomes = append(outcomes, answered...)
		}
		return nil
	}()
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return nil, err
	}
	// The remaining parts are not tried: each would cost another deadline.
	for len(outcomes) < len(items) {
		outcomes = append(outcomes, fail(err))
	}
	return outcomes, nil
}

// split returns consecutive parts of items within both limits; an item larger than maxBytes
// has its own.
func split[Item proto.Message](items []Item, maxBytes, maxItems int) [][]Item {
	var parts [][]Item
	start, total := 0, 0
	for index, item := range items {
		size := elementSize(item)
		if index > start && (total+size > maxBytes || index-start >= maxItems) {
			parts = append(parts, items[start:index])
			start, total = index, 0
		}
		total += size
	}
	if len(items) > 0 {
		parts = append(parts, items[start:])
	}
	return parts
}

// elementSize returns the size of message as an element of a repeated field. In addition to
// the message there are its tag, one byte for the field numbers in use, and its length, seven
// bits per byte (Protocol Buffers, "Encoding").
func elementSize(message proto.Message) int {
	size := proto.Size(message)
	return 1 + max(1, (bits.Len(uint(size))+6)/7) + size
}

// missing returns the error for a response without a field that it must have.
func missing(field string) *Error {
	return invalidResponse("%s is missing in the response", field)
}

// checkCount returns an error unless a response has as many elements as the request.
func checkCount[Element any](field string, elements []Element, expected int) error {
	if len(elements) == expected {
		return nil
	}
	return invalidResponse("%s has %d elements for %d items", field, len(elements), expected)
}
