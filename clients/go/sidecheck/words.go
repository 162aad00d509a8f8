package sidecheck

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// enumeration is a value of an enumeration of the API.
type enumeration interface {
	~int32
	protoreflect.Enum
}

// unspecified is the word for a value that this release does not know.
const unspecified = "unspecified"

// encodeWord returns the value of an enumeration whose name is the prefix and word, in upper
// case with underscores for hyphens; the empty word is the unspecified value.
func encodeWord[E enumeration, W ~string](word W, prefix string) (E, error) {
	var zero E
	if word == "" {
		return zero, nil
	}
	name := prefix + strings.ToUpper(strings.ReplaceAll(string(word), "-", "_"))
	value := zero.Descriptor().Values().ByName(protoreflect.Name(name))
	if value == nil || value.Number() == 0 || wordOf(value, prefix) != string(word) {
		return zero, fmt.Errorf("%w: %T %q is unknown", ErrInvalidArgument, word, word)
	}
	return E(value.Number()), nil
}

// decodeWord returns the word for a value of an enumeration.
func decodeWord[W ~string, E enumeration](value E, prefix string) W {
	known := value.Descriptor().Values().ByNumber(value.Number())
	if known == nil {
		return unspecified
	}
	return W(wordOf(known, prefix))
}

// wordOf returns the name of value without the prefix, in lower case and with hyphens.
func wordOf(value protoreflect.EnumValueDescriptor, prefix string) string {
	word := strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
	return strings.ReplaceAll(word, "_", "-")
}
