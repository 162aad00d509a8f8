package sidecheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// fields are those of a message of the API that are set.
type fields map[string]json.RawMessage

// runCase returns the rendered result of a shared case.
func runCase(ctx context.Context, client *sidecheck.Client, shared sharedCase) (rendered any) {
	call, ok := calls[shared.Call]
	if !ok {
		return object{"error": "the client has no method for " + shared.Call}
	}
	if shared.OnRejected != "" {
		shared.Request["on_rejected"] = []byte(`"` + shared.OnRejected + `"`)
	}
	value, err := call(ctx, client, shared.Request)
	if err != nil {
		value = object{"error": renderError(err)}
		var stream *streamFailure
		if errors.As(err, &stream) {
			value["responses"] = stream.responses
		}
	}
	return value
}

// calls translate requests to calls of the client, and their results to responses.
var calls = map[string]func(context.Context, *sidecheck.Client, fields) (object, error){
	"Validate": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		verdict, err := validate(ctx, client, request)
		return object{"verdict": render(verdict)}, err
	},
	"ValidateBatch": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		outcomes, err := client.ValidateBatch(ctx, list(request["items"], item),
			target(request["target"]), options[sidecheck.ValidationOptions](request))
		rendered := []any{}
		for _, outcome := range outcomes {
			rendered = append(rendered, renderOutcome("verdict", outcome.Verdict, outcome.Err))
		}
		return object{"outcomes": rendered}, err
	},
	"ValidateStream": validateStream,
	"CheckSession":   checkSession,
	"RegisterTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		registration, err := client.Register(ctx, text(request["server"]),
			list(request["tools"], definition), &sidecheck.RegisterOptions{
				Replace:         text(request["mode"]) == "replace",
				ChangePolicy:    sidecheck.ChangePolicy(text(request["change_policy"])),
				ValidateOnly:    request["validate_only"] != nil,
				ProtocolVersion: text(request["protocol_version"]),
				ReturnRejected:  text(request["on_rejected"]) != "error",
			})
		return whole(registration, err)
	},
	"GetTool": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		tool, err := client.Get(ctx, text(request["server"]), text(request["name"]),
			text(request["adapt_to_version"]))
		return object{"tool": render(tool)}, err
	},
	"ListTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return collect("tools",
			client.List(ctx, text(request["server"]), text(request["adapt_to_version"])))
	},
	"DeleteTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		if request["all"] != nil {
			return whole(client.DeleteAll(ctx, text(request["server"])))
		}
		return whole(client.Delete(ctx, text(request["server"]), list(request["names"], text)...))
	},
	"GetServerInfo": func(ctx context.Context, client *sidecheck.Client, _ fields) (object, error) {
		return whole(client.Info(ctx))
	},
	"ListRules": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return collect("rules", client.Protocol.ListRules(ctx, text(request["protocol_version"])))
	},
	"CheckToolNames": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return whole(client.Protocol.CheckNames(
			ctx, list(request["names"], text), checkOptions(request)))
	},
	"CheckTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		if request["tools_list"] != nil {
			return whole(client.Protocol.CheckTools(ctx, raw(request["tools_list"]),
				list(request["documents"], document), checkOptions(request)))
		}
		return whole(client.Protocol.CheckDefinitions(
			ctx, list(request["tools"], definition), checkOptions(request)))
	},
	"CheckElicitation": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("elicitation", request["elicitation"]).(sidecheck.Elicitation)
		return checked(client.Protocol.CheckElicitation(ctx, item.Params, checkOptions(request)))
	},
	"CheckElicitationResult": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("elicitation_result", request["elicitation_result"])
		return checked(client.Protocol.CheckElicitationResult(
			ctx, item.(sidecheck.ElicitationResult), checkOptions(request)))
	},
	"CheckSampling": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("sampling", request["sampling"]).(sidecheck.Sampling)
		return checked(client.Protocol.CheckSampling(ctx, item.Params, checkOptions(request)))
	},
	"CheckToolResult": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("tool_result", request["tool_result"]).(sidecheck.ToolResult)
		return checked(client.Protocol.CheckToolResult(ctx, item, checkOptions(request)))
	},
	"CheckMessage": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("message", request["message"]).(sidecheck.ProtocolMessage)
		return checked(client.Protocol.CheckMessage(ctx, item, checkOptions(request)))
	},
	"CheckBatch": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		outcomes, err := client.Protocol.CheckBatch(
			ctx, list(request["items"], anyCheckItem), checkOptions(request))
		rendered := []any{}
		for _, outcome := range outcomes {
			rendered = append(rendered, renderOutcome("result", outcome.Result, outcome.Err))
		}
		return object{"outcomes": rendered}, err
	},
	"NormalizeToolResult": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return whole(client.Protocol.NormalizeToolResult(ctx, returned(request),
			&sidecheck.NormalizeOptions{
				Tool:    target(request["tool"]),
				Profile: sidecheck.ResultProfile(text(request["profile"])),
				Check:   *checkOptions(request),
			}))
	},
	"ConvertTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return whole(client.Conversion.ConvertTools(ctx, sidecheck.ModelAPI(text(request["api"])),
			list(request["tools"], toolToConvert), list(request["servers"], text),
			options[sidecheck.ConversionOptions](request)))
	},
	"ConvertToolCall": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return whole(client.Conversion.ConvertToolCall(ctx, raw(request["call"]),
			list(request["mappings"], raw), target(request["tool"]),
			options[sidecheck.ValidationOptions](request)))
	},
	"ConvertToolResult": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		item := checkItem("tool_result", request["result"]).(sidecheck.ToolResult)
		return whole(client.Conversion.ConvertToolResult(
			ctx, sidecheck.ModelAPI(text(request["api"])), item, &sidecheck.ConvertResultOptions{
				CallID: text(request["call_id"]),
				Name:   text(request["name"]),
				Check:  *checkOptions(request),
			}))
	},
	"InferTools": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		source := raw(request["source"])
		delete(request, "source")
		return whole(client.Inference.InferTools(ctx, source, decoded[sidecheck.InferOptions](request)))
	},
	"AdaptTool": func(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
		return whole(client.Inference.AdaptTool(
			ctx, target(request["tool"]), text(request["protocol_version"])))
	},
}

func validate(
	ctx context.Context, client *sidecheck.Client, request fields,
) (*sidecheck.Verdict, error) {
	item := itemOf(request)
	switch subject := item.Subject.(type) {
	case sidecheck.Arguments:
		return client.Validate(ctx, item.Target, subject.Payload, item.Options)
	case sidecheck.StructuredContent:
		return client.ValidateStructuredContent(ctx, item.Target, subject.Payload, item.Options)
	case sidecheck.CallParams:
		return client.ValidateCall(ctx, item.Target, subject.Payload, item.Options)
	default:
		return client.ValidateCallResult(
			ctx, item.Target, item.Subject.(sidecheck.CallResult).Payload, item.Options)
	}
}

// streamFailure is the error of a stream after some responses.
type streamFailure struct {
	error
	responses []any
}

func (f *streamFailure) Unwrap() error { return f.error }

func validateStream(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
	defaults := parse(request["defaults"])
	streamOptions := &sidecheck.StreamOptions{
		Target:  target(defaults["target"]),
		Options: options[sidecheck.ValidationOptions](defaults),
	}
	items := func(yield func(string, sidecheck.Item) bool) {
		for _, sent := range list(request["items"], parse) {
			if !yield(text(sent["id"]), item(sent["item"])) {
				return
			}
		}
	}
	responses := []any{}
	for outcome, err := range client.ValidateStream(ctx, items, streamOptions) {
		if err != nil {
			return nil, &streamFailure{err, responses}
		}
		responses = append(responses, object{
			"id": outcome.ID, "outcome": renderOutcome("verdict", outcome.Verdict, outcome.Err),
		})
	}
	return object{"responses": responses}, nil
}

func checkSession(ctx context.Context, client *sidecheck.Client, request fields) (object, error) {
	session, err := client.Protocol.Session(
		ctx, &sidecheck.SessionOptions{Check: *checkOptions(parse(request["defaults"]))})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	responses := []any{}
	for _, item := range list(request["items"], parse) {
		message := checkItem("message", item["message"]).(sidecheck.ProtocolMessage)
		result, err := session.Check(sidecheck.SessionMessage{Message: message})
		responses = append(responses,
			object{"id": text(item["id"]), "outcome": renderOutcome("result", result, err)})
	}
	summary, err := session.Finish()
	return object{"responses": responses, "summary": render(summary)}, err
}

// Results.

func whole(value any, err error) (object, error) {
	if err != nil {
		return nil, err
	}
	return render(value).(object), nil
}

func checked(result *sidecheck.CheckResult, err error) (object, error) {
	return object{"result": render(result)}, err
}

func collect[Element any](name string, elements iter.Seq2[*Element, error]) (object, error) {
	rendered := []any{}
	for element, err := range elements {
		if err != nil {
			return nil, err
		}
		rendered = append(rendered, render(element))
	}
	return object{name: rendered}, nil
}

// Fields of requests. A fault of the cases is a panic.

func parse(value json.RawMessage) fields {
	var parsed fields
	must(value, &parsed)
	return parsed
}

func must(value json.RawMessage, target any) {
	if value == nil {
		return
	}
	if err := json.Unmarshal(value, target); err != nil {
		panic(err)
	}
}

func text(value json.RawMessage) string {
	var parsed string
	must(value, &parsed)
	return parsed
}

// raw returns the bytes that a field contains as text.
func raw(value json.RawMessage) json.RawMessage { return json.RawMessage(text(value)) }

// optionalRaw returns nil for an absent field.
func optionalRaw(value json.RawMessage) any {
	if value == nil {
		return nil
	}
	return raw(value)
}

func list[Element any](value json.RawMessage, element func(json.RawMessage) Element) []Element {
	var values []json.RawMessage
	must(value, &values)
	var elements []Element
	for _, value := range values {
		elements = append(elements, element(value))
	}
	return elements
}

// decoded returns a struct of the client with the fields of a message.
func decoded[Struct any](message fields) *Struct {
	var value Struct
	reflected := reflect.ValueOf(&value).Elem()
	for name, field := range message {
		found := reflected.FieldByNameFunc(func(other string) bool { return snakeCase(other) == name })
		if !found.IsValid() {
			panic(fmt.Sprintf("%T has no field %s", value, name))
		}
		must(field, found.Addr().Interface())
	}
	return &value
}

// options returns the options of a request, nil if it has none.
func options[Struct any](request fields) *Struct {
	if request["options"] == nil {
		return nil
	}
	return decoded[Struct](parse(request["options"]))
}

func checkOptions(request fields) *sidecheck.CheckOptions {
	options := decoded[sidecheck.CheckOptions](parse(request["options"]))
	context := parse(request["context"])
	options.Context = sidecheck.ProtocolContext{
		ProtocolVersion:    text(context["protocol_version"]),
		ClientCapabilities: optionalRaw(context["client_capabilities"]),
		ServerCapabilities: optionalRaw(context["server_capabilities"]),
	}
	return options
}

func document(value json.RawMessage) sidecheck.Document {
	message := parse(value)
	return sidecheck.Document{URI: text(message["uri"]), JSON: raw(message["json"])}
}

func definition(value json.RawMessage) sidecheck.ToolDefinition {
	message := parse(value)
	return sidecheck.ToolDefinition{
		JSON: raw(message["json"]), Documents: list(message["documents"], document),
	}
}

func target(value json.RawMessage) sidecheck.Target {
	for kind, message := range parse(value) {
		switch kind {
		case "registered_tool":
			return *decoded[sidecheck.RegisteredTool](parse(message))
		case "definition_digest":
			return sidecheck.DefinitionDigest(text(message))
		case "schema_digest":
			return sidecheck.SchemaDigest(text(message))
		case "inline_tool":
			return definition(message)
		default:
			schema := parse(message)
			return sidecheck.Schema{
				JSON:           raw(schema["json"]),
				Documents:      list(schema["documents"], document),
				DefaultDialect: text(schema["default_dialect"]),
			}
		}
	}
	return nil
}

func item(value json.RawMessage) sidecheck.Item { return itemOf(parse(value)) }

func itemOf(message fields) sidecheck.Item {
	item := sidecheck.Item{
		Target: target(message["target"]), Options: options[sidecheck.ValidationOptions](message),
	}
	for kind, payload := range parse(message["subject"]) {
		switch kind {
		case "arguments":
			item.Subject = sidecheck.Arguments{Payload: raw(payload)}
		case "structured_content":
			item.Subject = sidecheck.StructuredContent{Payload: raw(payload)}
		case "absent_structured_content":
			item.Subject = sidecheck.StructuredContent{Payload: sidecheck.Absent}
		case "call_params":
			item.Subject = sidecheck.CallParams{Payload: raw(payload)}
		case "call_result":
			item.Subject = sidecheck.CallResult{Payload: raw(payload)}
		}
	}
	return item
}

func toolToConvert(value json.RawMessage) sidecheck.ToolToConvert {
	message := parse(value)
	return sidecheck.ToolToConvert{Tool: target(message["tool"]), Server: text(message["server"])}
}

func anyCheckItem(value json.RawMessage) sidecheck.CheckItem {
	for kind, message := range parse(value) {
		return checkItem(kind, message)
	}
	return nil
}

func checkItem(kind string, value json.RawMessage) sidecheck.CheckItem {
	message := parse(value)
	switch kind {
	case "elicitation":
		return sidecheck.Elicitation{Params: raw(message["params"])}
	case "elicitation_result":
		return sidecheck.ElicitationResult{
			Result: raw(message["result"]), Params: optionalRaw(message["params"]),
		}
	case "sampling":
		return sidecheck.Sampling{Params: raw(message["params"])}
	case "tool_result":
		return sidecheck.ToolResult{
			Result:  raw(message["json"]),
			Profile: sidecheck.ResultProfile(text(message["profile"])),
			Tool:    target(message["tool"]),
		}
	}
	return sidecheck.ProtocolMessage{
		JSON:          raw(message["json"]),
		Sender:        sidecheck.Sender(text(message["sender"])),
		RequestMethod: text(message["request_method"]),
		Request:       optionalRaw(message["request"]),
	}
}

func returned(request fields) sidecheck.Returned {
	switch {
	case request["value"] != nil:
		return sidecheck.ReturnedValue{Value: raw(request["value"])}
	case request["content"] != nil:
		return sidecheck.ReturnedContent{Content: raw(request["content"])}
	case request["result"] != nil:
		return sidecheck.ReturnedResult{Result: raw(request["result"])}
	case request["error"] != nil:
		return sidecheck.ReturnedError{Message: text(request["error"])}
	}
	return nil
}
