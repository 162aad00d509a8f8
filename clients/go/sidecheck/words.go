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

// encodeWord returns the value of an enumeration whose name is the prefix and word, in upper
// case; the empty word is the unspecified value.
func encodeWord[E enumeration, W ~string](word W, prefix string) (E, error) {
	var unspecified E
	if word == "" {
		return unspecified, nil
	}
	name := protoreflect.Name(prefix + strings.ToUpper(string(word)))
	value := unspecified.Descriptor().Values().ByName(name)
	if value == nil {
		return unspecified, fmt.Errorf("%w: %T %q is unknown", ErrInvalidArgument, word, word)
	}
	return E(value.Number()), nil
}

// decodeWord returns the word for a value of an enumeration. It is empty for the unspecified
// value and for one that this release does not know.
func decodeWord[W ~string, E enumeration](value E, prefix string) W {
	known := value.Descriptor().Values().ByNumber(value.Number())
	if known == nil || value == 0 {
		return ""
	}
	return W(strings.ToLower(strings.TrimPrefix(string(known.Name()), prefix)))
}
