package sidecheck_test

import (
	"errors"
	"reflect"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

var (
	wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	// renamed are the fields whose initialisms run together.
	renamed = map[string]string{"JSONRPCError": "json_rpc_error"}
)

// render returns a value of the client with the names of the API.
func render(value any) any { return renderValue(reflect.ValueOf(value)) }

func renderValue(value reflect.Value) any {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			return nil
		}
		return renderValue(value.Elem())
	case reflect.Struct:
		fields := map[string]any{}
		for index := range value.NumField() {
			switch name := value.Type().Field(index).Name; name {
			case "RegistryRevision", "Revision":
			default:
				fields[snakeCase(name)] = renderValue(value.Field(index))
			}
		}
		return fields
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return string(value.Bytes())
		}
		elements := []any{}
		for index := range value.Len() {
			elements = append(elements, renderValue(value.Index(index)))
		}
		return elements
	case reflect.String:
		return value.String()
	}
	return value.Interface()
}

func snakeCase(name string) string {
	if other, exists := renamed[name]; exists {
		return other
	}
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}${3}_${2}${4}"))
}

// renderOutcome returns the outcome of an item, whose result is called name.
func renderOutcome(name string, result any, err error) any {
	if err != nil {
		return map[string]any{"error": renderError(err)}
	}
	return map[string]any{name: render(result)}
}

func renderError(err error) map[string]any {
	var failure *sidecheck.Error
	var payload *sidecheck.InvalidPayloadError
	switch {
	case errors.As(err, &payload):
		return map[string]any{"kind": "invalid_payload", "text": err.Error()}
	case errors.Is(err, sidecheck.ErrInvalidArgument):
		return map[string]any{"kind": "invalid_argument", "message": err.Error()}
	case !errors.As(err, &failure):
		return map[string]any{"kind": "other", "message": err.Error()}
	}
	metadata := failure.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	rendered := map[string]any{
		"kind":     "error",
		"reason":   failure.Reason,
		"status":   code.Code(failure.Status).String(),
		"message":  failure.Message,
		"text":     err.Error(),
		"metadata": metadata,
		// In seconds.
		"retry_after": nil,
	}
	if failure.RetryAfter > 0 {
		rendered["retry_after"] = failure.RetryAfter.Seconds()
	}
	var unavailable *sidecheck.UnavailableError
	var invalid *sidecheck.InvalidResponseError
	var closed *sidecheck.StreamClosedError
	var rejected *sidecheck.ToolsRejectedError
	switch {
	case errors.As(err, &closed):
		rendered["kind"] = "stream_closed"
		if errors.As(err, &unavailable) {
			rendered["kind"] = "stream_unavailable"
		}
		rendered["unanswered"] = append([]string{}, closed.Unanswered...)
	case errors.As(err, &unavailable):
		rendered["kind"] = "unavailable"
	case errors.As(err, &invalid):
		rendered["kind"] = "invalid_response"
	case errors.As(err, &rejected):
		rendered["kind"] = "tools_rejected"
	}
	return rendered
}
