package sidecheck_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// object is a JSON object.
type object map[string]any

// variableFields depend on what else a server has done.
var variableFields = map[string]bool{"registry_revision": true, "revision": true}

// render returns a value of the client as the API has it: see tests/conformance/rendering.py.
func render(value any) any {
	switch value := value.(type) {
	case json.RawMessage:
		return string(value)
	case sidecheck.ToolConversion:
		rendered := object{"server": value.Server, "name": value.Name}
		if value.Err != nil {
			rendered["error"] = renderError(value.Err)
		} else {
			rendered["converted"] = render(value.Converted)
		}
		return rendered
	}
	reflected := reflect.ValueOf(value)
	switch reflected.Kind() {
	case reflect.Pointer:
		if reflected.IsNil() {
			return nil
		}
		return render(reflected.Elem().Interface())
	case reflect.Struct:
		rendered := object{}
		for index := range reflected.NumField() {
			name := snakeCase(reflected.Type().Field(index).Name)
			if !variableFields[name] {
				rendered[name] = render(reflected.Field(index).Interface())
			}
		}
		return rendered
	case reflect.Slice:
		rendered := make([]any, reflected.Len())
		for index := range rendered {
			rendered[index] = render(reflected.Index(index).Interface())
		}
		return rendered
	}
	return value
}

// renderOutcome returns the outcome of an item: a value under its name, or an error.
func renderOutcome(name string, value any, err error) object {
	if err != nil {
		return object{"error": renderError(err)}
	}
	return object{name: render(value)}
}

func renderError(err error) object {
	var failure *sidecheck.Error
	if !errors.As(err, &failure) {
		return object{"kind": fmt.Sprintf("%T", err), "message": err.Error()}
	}
	rendered := object{
		"kind":        "error",
		"reason":      failure.Reason,
		"status":      failure.StatusName(),
		"message":     failure.Message,
		"metadata":    failure.Metadata,
		"retry_after": nil,
	}
	if failure.Metadata == nil {
		rendered["metadata"] = object{}
	}
	if failure.RetryAfter > 0 {
		rendered["retry_after"] = failure.RetryAfter.Seconds()
	}
	isUnavailable := errors.Is(err, sidecheck.ErrUnavailable)
	var rejected *sidecheck.ToolsRejectedError
	var closed *sidecheck.StreamClosedError
	switch {
	case errors.As(err, &closed):
		rendered["unanswered"] = append([]string{}, closed.Unanswered...)
		rendered["kind"] = "stream_closed"
		if isUnavailable {
			rendered["kind"] = "stream_unavailable"
		}
	case errors.As(err, &rejected):
		rendered["kind"] = "tools_rejected"
	case isUnavailable:
		rendered["kind"] = "unavailable"
	case errors.Is(err, sidecheck.ErrInvalidResponse):
		rendered["kind"] = "invalid_response"
	}
	return rendered
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)

// snakeCase returns the API's name for a field of the client.
func snakeCase(name string) string {
	name = strings.Replace(name, "JSONRPC", "JsonRpc", 1)
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}${3}_${2}${4}"))
}
