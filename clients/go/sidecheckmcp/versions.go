package sidecheckmcp

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionVersions are the protocol versions that sessions have negotiated. The SDK tells the
// version that a client asked for, and not the one that it got.
type sessionVersions struct {
	versions sync.Map // of weak.Pointer[mcp.ServerSession] to string
}

// initialized notes the version of a session.
func (v *sessionVersions) initialized(request mcp.Request, result *mcp.InitializeResult) {
	session, isServer := request.GetSession().(*mcp.ServerSession)
	if !isServer || session == nil || result == nil {
		return
	}
	key := weak.Make(session)
	if _, known := v.versions.Swap(key, result.ProtocolVersion); !known {
		runtime.AddCleanup(session, func(key weak.Pointer[mcp.ServerSession]) {
			v.versions.Delete(key)
		}, key)
	}
}

// of returns the protocol version of a call: that which its own _meta names, as of 2026-07-28,
// or that of its session. Empty if it is unknown.
func (v *sessionVersions) of(call *mcp.CallToolRequest) string {
	if version, isText := call.Params.Meta[mcp.MetaKeyProtocolVersion].(string); isText {
		return version
	}
	if call.Session == nil {
		return ""
	}
	if version, isKnown := v.versions.Load(weak.Make(call.Session)); isKnown {
		return version.(string)
	}
	// A session without an initialize request of its own, such as one over stateless HTTP, whose
	// version is that of a header.
	if params := call.Session.InitializeParams(); params != nil &&
		slices.Contains(mcp.SupportedProtocolVersions(), params.ProtocolVersion) {
		return params.ProtocolVersion
	}
	return ""
}
