package sidecheck_test

import (
	"encoding/json"
	"strconv"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

// object is a message of the API as JSON. Its methods return a field, or the zero value where
// it is absent.
type object map[string]any

func (o object) has(name string) bool { return o[name] != nil }

func (o object) text(name string) string { text, _ := o[name].(string); return text }

func (o object) flag(name string) bool { flag, _ := o[name].(bool); return flag }

func (o object) number(name string) uint32 {
	number, _ := o[name].(json.Number)
	parsed, _ := strconv.ParseUint(number.String(), 10, 32)
	return uint32(parsed)
}

// json returns JSON text, or nil where it is absent.
func (o object) json(name string) any {
	if !o.has(name) {
		return nil
	}
	return json.RawMessage(o.text(name))
}

func (o object) object(name string) object { fields, _ := o[name].(map[string]any); return fields }

func (o object) texts(name string) []string {
	var texts []string
	elements, _ := o[name].([]any)
	for _, element := range elements {
		text, _ := element.(string)
		texts = append(texts, text)
	}
	return texts
}

func (o object) objects(name string) []object {
	var objects []object
	elements, _ := o[name].([]any)
	for _, element := range elements {
		fields, _ := element.(map[string]any)
		objects = append(objects, fields)
	}
	return objects
}

func (o object) portability(name string) *sidecheck.Portability {
	if !o.has(name) {
		return nil
	}
	fields := o.object(name)
	return &sidecheck.Portability{Targets: fields.texts("targets"), Prove: fields.flag("prove")}
}

func (o object) documents() []sidecheck.Document {
	var documents []sidecheck.Document
	for _, document := range o.objects("documents") {
		documents = append(documents, sidecheck.Document{URI: document.text("uri"), JSON: document.json("json")})
	}
	return documents
}

func (o object) definition() sidecheck.ToolDefinition {
	return sidecheck.ToolDefinition{JSON: json.RawMessage(o.text("json")), Documents: o.documents()}
}

func (o object) toolSet(name string) sidecheck.ToolSet {
	set := o.object(name)
	if set.has("server") {
		return sidecheck.ServerTools{Server: set.text("server"), Names: set.texts("names")}
	}
	var tools sidecheck.Definitions
	for _, tool := range set.objects("tools") {
		tools = append(tools, tool.definition())
	}
	return tools
}

func (o object) target(name string) sidecheck.Target {
	target := o.object(name)
	for kind := range target {
		fields := target.object(kind)
		switch kind {
		case "registered_tool":
			return sidecheck.RegisteredTool{
				Server: fields.text("server"), Name: fields.text("name"),
				DefinitionDigest: fields.text("definition_digest"),
			}
		case "definition_digest":
			return sidecheck.DefinitionDigest(target.text(kind))
		case "schema_digest":
			return sidecheck.SchemaDigest(target.text(kind))
		case "inline_tool":
			return fields.definition()
		case "inline_schema":
			return sidecheck.Schema{
				JSON: json.RawMessage(fields.text("json")), Documents: fields.documents(),
				DefaultDialect: fields.text("default_dialect"),
			}
		}
	}
	return nil
}

func (o object) options() *sidecheck.Options {
	if !o.has("options") {
		return nil
	}
	fields := o.object("options")
	return &sidecheck.Options{
		ProtocolVersion:  fields.text("protocol_version"),
		Detail:           sidecheck.Detail(fields.text("detail")),
		MaxViolations:    fields.number("max_violations"),
		UnknownArguments: sidecheck.UnknownArguments(fields.text("unknown_arguments")),
		Coercion:         sidecheck.Coercion(fields.text("coercion")),
		ApplyDefaults:    fields.flag("apply_defaults"),
		AssertFormats:    fields.flag("assert_formats"),
		OnUnknownTool:    sidecheck.OnUnknownTool(fields.text("on_unknown_tool")),
		HideValues:       fields.flag("hide_values"),
	}
}

func (o object) checkOptions() *sidecheck.CheckOptions {
	context, fields := o.object("context"), o.object("options")
	return &sidecheck.CheckOptions{
		Context: sidecheck.ProtocolContext{
			ProtocolVersion:    context.text("protocol_version"),
			ClientCapabilities: context.json("client_capabilities"),
			ServerCapabilities: context.json("server_capabilities"),
		},
		MaxViolations: fields.number("max_violations"),
		HideValues:    fields.flag("hide_values"),
		MinSeverity:   sidecheck.Severity(fields.text("min_severity")),
	}
}

func (o object) item() sidecheck.Item {
	item := sidecheck.Item{Target: o.target("target"), Options: o.options()}
	subject := o.object("subject")
	for kind := range subject {
		text := json.RawMessage(subject.text(kind))
		switch kind {
		case "arguments":
			item.Subject = sidecheck.Arguments{Payload: text}
		case "structured_content":
			item.Subject = sidecheck.StructuredContent{Payload: text}
		case "absent_structured_content":
			item.Subject = sidecheck.StructuredContent{Payload: sidecheck.Absent}
		case "call_params":
			item.Subject = sidecheck.CallParams{Payload: text}
		case "call_result":
			item.Subject = sidecheck.CallResult{Payload: text}
		}
	}
	return item
}

func (o object) toolResult() sidecheck.ToolResult {
	return sidecheck.ToolResult{
		Result: json.RawMessage(o.text("json")), Profile: sidecheck.ResultProfile(o.text("profile")),
		Tool: o.target("tool"),
	}
}

func (o object) message() sidecheck.ProtocolMessage {
	return sidecheck.ProtocolMessage{
		Message: json.RawMessage(o.text("json")), Sender: sidecheck.Sender(o.text("sender")),
		RequestMethod: o.text("request_method"), Request: o.json("request"),
	}
}

func (o object) elicitationResult() sidecheck.ElicitationResult {
	return sidecheck.ElicitationResult{
		Result: json.RawMessage(o.text("result")), Params: o.json("params"),
	}
}

func (o object) checkItem() sidecheck.CheckItem {
	switch {
	case o.has("elicitation"):
		return sidecheck.Elicitation{Params: json.RawMessage(o.object("elicitation").text("params"))}
	case o.has("elicitation_result"):
		return o.object("elicitation_result").elicitationResult()
	case o.has("sampling"):
		return sidecheck.Sampling{Params: json.RawMessage(o.object("sampling").text("params"))}
	case o.has("tool_result"):
		return o.object("tool_result").toolResult()
	}
	return o.object("message").message()
}
