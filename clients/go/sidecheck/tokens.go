package sidecheck

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// bearerToken is what a token may be: without spaces and line breaks (RFC 6750, section 2.1, is
// narrower).
var bearerToken = regexp.MustCompile(`^[\x21-\x7e]+$`)

// tokenCredentials sends a bearer token with each call (RFC 6750).
type tokenCredentials struct {
	token func(context.Context) (string, error)
	// secure says whether the connection has TLS. gRPC checks it as well.
	secure bool
}

// newTokenCredentials returns the credentials of a client of address, nil without a token.
func newTokenCredentials(address string, options *ClientOptions) (credentials.PerRPCCredentials, error) {
	token := options.TokenFunc
	switch {
	case options.Token != "" && token != nil:
		return nil, fmt.Errorf("%w: Token and TokenFunc are both set", ErrInvalidArgument)
	case options.Token != "":
		if err := checkToken(options.Token); err != nil {
			return nil, err
		}
		static := options.Token
		token = func(context.Context) (string, error) { return static, nil }
	case token == nil:
		return nil, nil
	}
	if options.TLS == nil && !options.TokenWithoutTLS && !isLocal(address) {
		return nil, fmt.Errorf("%w: the token would be sent to %s in plain text; set TLS, or set "+
			"TokenWithoutTLS where the network itself is encrypted", ErrInvalidArgument, address)
	}
	return &tokenCredentials{token, options.TLS != nil}, nil
}

// GetRequestMetadata returns the header of a call. Its errors are those of [tokenError].
func (c *tokenCredentials) GetRequestMetadata(
	ctx context.Context, _ ...string,
) (map[string]string, error) {
	token, err := c.token(ctx)
	if err == nil {
		err = checkToken(token)
	}
	if err != nil {
		return nil, &tokenError{err}
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// RequireTransportSecurity says whether the connection must have TLS.
func (c *tokenCredentials) RequireTransportSecurity() bool { return c.secure }

// tokenError says why a call has no token, and was not sent.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "no token for the call: " + e.err.Error() }

func (e *tokenError) Unwrap() error { return e.err }

// GRPCStatus makes gRPC return the error itself. Of others it keeps the text only, in a status that
// looks like one of a server.
func (e *tokenError) GRPCStatus() *status.Status {
	return status.New(codes.Unauthenticated, e.Error())
}

// checkToken returns an error unless token can be sent. It does not repeat the token.
func checkToken(token string) error {
	if bearerToken.MatchString(token) {
		return nil
	}
	return fmt.Errorf("%w: a token must have one or more visible ASCII characters, and no spaces",
		ErrInvalidArgument)
}

// isLocal says whether address is certainly of this machine.
func isLocal(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(strings.TrimPrefix(address, "dns:///"))
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
