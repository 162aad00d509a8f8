package sidecheck

import (
	"context"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

type coalescer struct{ connection *connection }

func newCoalescer(c *connection) *coalescer { return &coalescer{c} }
func (c *coalescer) validate(ctx context.Context, item *sidecheckv1.ValidateItem) (*Verdict, error) {
	return c.connection.validate(ctx, item)
}
