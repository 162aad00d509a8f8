package sidecheckmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// The codes come from a server: 100000 different ones are more than a search of a list per
// violation can take.
func TestLogOfManyCodes(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	var want []string
	var violations []sidecheck.Violation
	for number := range 100_000 {
		code := fmt.Sprintf("CODE_%06d", number)
		want = append(want, code)
		violations = append(violations, sidecheck.Violation{Code: code}, sidecheck.Violation{Code: code})
	}
	logReport(t.Context(), "echo", &sidecheck.Verdict{Violations: violations})
	var line struct{ Codes []string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || !slices.Equal(line.Codes, want) {
		t.Errorf("%d codes, %v", len(line.Codes), err)
	}
}
