package sidecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrInvalidArgument is wrapped by errors about an argument that cannot be sent. Nothing was
// sent then.
var ErrInvalidArgument = errors.New("sidecheck: invalid argument")

// JSON is JSON text in UTF-8 as the server wrote it. It is empty where there is none.
type JSON []byte

// Decode decodes the text into the value that target points to, as [json.Unmarshal] does.
func (j JSON) Decode(target any) error { return json.Unmarshal(j, target) }

// MarshalJSON returns the text itself, and null where there is none.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// String returns the text.
func (j JSON) String() string { return string(j) }

// jsonText returns the JSON text of value, which errors call name.
func jsonText(value any, name string) ([]byte, error) {
	switch text := value.(type) {
	case json.RawMessage:
		return text, nil
	case []byte:
		return text, nil
	case JSON:
		return text, nil
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	// The text is not for HTML, and messages that cite it should have it as it was.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("%w: %s cannot be encoded as JSON: %w", ErrInvalidArgument, name, err)
	}
	return bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), nil
}

// protocolText is jsonText for values that cannot be strings, such as tools and messages. A
// string there would be JSON text by mistake.
func protocolText(value any, name string) ([]byte, error) {
	if _, isString := value.(string); isString {
		return nil, fmt.Errorf("%w: %s is a string; pass JSON text as []byte or json.RawMessage",
			ErrInvalidArgument, name)
	}
	return jsonText(value, name)
}

// optionalText is protocolText for values that may be absent: nil has no text.
func optionalText(value any, name string) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	return protocolText(value, name)
}
