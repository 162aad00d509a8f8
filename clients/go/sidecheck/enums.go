package sidecheck

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	sidecheckv1 "github.com/sidecheck/sidecheck/clients/go/sidecheck/v1"
)

// enumWords translates the values of an enum of the API: DETAIL_FIRST is "first", and
// DETAIL_UNSPECIFIED is "".
type enumWords struct {
	words   map[protoreflect.EnumNumber]string
	numbers map[string]protoreflect.EnumNumber
	// expected lists the words for error messages.
	expected string
}

var (
	detailWords           = newEnumWords(sidecheckv1.Detail(0))
	unknownArgumentsWords = newEnumWords(sidecheckv1.UnknownArguments(0))
	coercionWords         = newEnumWords(sidecheckv1.Coercion(0))
	onUnknownToolWords    = newEnumWords(sidecheckv1.OnUnknownTool(0))
	severityWords         = newEnumWords(sidecheckv1.Severity(0))
	changePolicyWords     = newEnumWords(sidecheckv1.ChangePolicy(0))
	actionWords           = newEnumWords(sidecheckv1.RegistrationOutcome_Action(0))
	profileWords          = newEnumWords(sidecheckv1.ResultProfile(0))
	senderWords           = newEnumWords(sidecheckv1.Sender(0))
	dispositionWords      = newEnumWords(sidecheckv1.ToolOutcome_Disposition(0))
	modelAPIWords         = newEnumWords(sidecheckv1.ModelApi(0))
	conversionModeWords   = newEnumWords(sidecheckv1.ConversionMode(0))
	serverPrefixWords     = newEnumWords(sidecheckv1.ServerPrefix(0))
	lossActionWords       = newEnumWords(sidecheckv1.Loss_Action(0))
	lossEffectWords       = newEnumWords(sidecheckv1.Loss_Effect(0))
	onUnsupportedWords    = newEnumWords(sidecheckv1.OnUnsupported(0))
)

func newEnumWords(enum protoreflect.Enum) enumWords {
	values := enum.Descriptor().Values()
	prefix := strings.TrimSuffix(string(values.ByNumber(0).Name()), "UNSPECIFIED")
	translated := enumWords{
		words:   map[protoreflect.EnumNumber]string{0: ""},
		numbers: map[string]protoreflect.EnumNumber{"": 0},
	}
	var quoted []string
	for index := range values.Len() {
		value := values.Get(index)
		if value.Number() == 0 {
			continue
		}
		word := strings.ToLower(strings.TrimPrefix(string(value.Name()), prefix))
		translated.words[value.Number()] = word
		translated.numbers[word] = value.Number()
		quoted = append(quoted, fmt.Sprintf("%q", word))
	}
	translated.expected = strings.Join(quoted, ", ")
	return translated
}

// decodeEnum returns the word for a value of the API, "" for one of a later server that this
// release does not know.
func decodeEnum[Word ~string](words enumWords, value protoreflect.Enum) Word {
	return Word(words.words[value.Number()])
}

// enumEncoder translates words and keeps the first error.
type enumEncoder struct{ err error }

// encodeEnum returns the value of the API for word, which the error calls name.
func encodeEnum[Value ~int32, Word ~string](
	encoder *enumEncoder, words enumWords, name string, word Word,
) Value {
	number, ok := words.numbers[string(word)]
	if !ok && encoder.err == nil {
		encoder.err = fmt.Errorf(
			"sidecheck: invalid %s %q; expected one of %s", name, string(word), words.expected)
	}
	return Value(number)
}
