package sidecheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
)

type sharedCall func(context.Context, *sidecheck.Client, object) (any, error)

// sharedCalls make the call that a request stands for, by the name of the procedure.
var sharedCalls = map[string]sharedCall{
	"Validate": validateShared,
	// No procedure: the verdict as an error.
	"RequireValid": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		item := r.item()
		verdict, err := c.Validate(ctx, item.Target, item.Subject.(sidecheck.Arguments).Payload, item.Options)
		if err == nil {
			err = verdict.Err()
		}
		return named("verdict", verdict, err)
	},
	"ValidateBatch":  validateBatchShared,
	"ValidateStream": validateStreamShared,
	"RegisterTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		var tools []sidecheck.ToolDefinition
		for _, tool := range r.objects("tools") {
			tools = append(tools, tool.definition())
		}
		registration, err := c.Register(ctx, r.text("server"), tools, &sidecheck.RegisterOptions{
			Replace:         r.text("mode") == "replace",
			ChangePolicy:    sidecheck.ChangePolicy(r.text("change_policy")),
			ValidateOnly:    r.flag("validate_only"),
			ProtocolVersion: r.text("protocol_version"),
			ReturnRejected:  r.text("on_rejected") != "error",
			Compatibility:   sidecheck.CompatibilityPolicy(r.text("compatibility")),
			Reading:         sidecheck.SchemaReading(r.text("reading")),
		})
		return render(registration), err
	},
	"GetTool": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		tool, err := c.Get(ctx, r.text("server"), r.text("name"), r.text("adapt_to_version"))
		return named("tool", tool, err)
	},
	"ListTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return collected("tools", c.List(ctx, r.text("server"), r.text("adapt_to_version")))
	},
	"DeleteTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		if r.flag("all") {
			return rendered(c.DeleteAll(ctx, r.text("server")))
		}
		return rendered(c.Delete(ctx, r.text("server"), r.texts("names")...))
	},
	"CompareTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Compare(ctx, r.toolSet("old"), r.toolSet("new"),
			sidecheck.SchemaReading(r.text("reading"))))
	},
	"GetServerInfo": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Info(ctx))
	},
	"ListRules": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return collected("rules", c.Protocol.ListRules(ctx, r.text("protocol_version")))
	},
	"CheckToolNames": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Protocol.CheckNames(ctx, r.texts("names"), r.checkOptions()))
	},
	"CheckTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		if r.has("tools_list") {
			return rendered(c.Protocol.CheckTools(ctx, r.json("tools_list"), r.documents(), r.checkOptions()))
		}
		var tools []sidecheck.ToolDefinition
		for _, tool := range r.objects("tools") {
			tools = append(tools, tool.definition())
		}
		return rendered(c.Protocol.CheckDefinitions(ctx, tools, r.checkOptions()))
	},
	"CheckElicitation": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		params := json.RawMessage(r.object("elicitation").text("params"))
		result, err := c.Protocol.CheckElicitation(ctx, params, r.checkOptions())
		return named("result", result, err)
	},
	"CheckElicitationResult": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		item := r.object("elicitation_result").elicitationResult()
		result, err := c.Protocol.CheckElicitationResult(ctx, item, r.checkOptions())
		return named("result", result, err)
	},
	"CheckSampling": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		params := json.RawMessage(r.object("sampling").text("params"))
		result, err := c.Protocol.CheckSampling(ctx, params, r.checkOptions())
		return named("result", result, err)
	},
	"CheckToolResult": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		result, err := c.Protocol.CheckToolResult(ctx, r.object("tool_result").toolResult(), r.checkOptions())
		return named("result", result, err)
	},
	"CheckMessage": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		result, err := c.Protocol.CheckMessage(ctx, r.object("message").message(), r.checkOptions())
		return named("result", result, err)
	},
	"CheckBatch":   checkBatchShared,
	"CheckSession": checkSessionShared,
	"NormalizeToolResult": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		var returned sidecheck.Returned
		switch {
		case r.has("value"):
			returned = sidecheck.ReturnedValue{Value: r.json("value")}
		case r.has("content"):
			returned = sidecheck.ReturnedContent{Content: r.json("content")}
		case r.has("result"):
			returned = sidecheck.ReturnedResult{Result: r.json("result")}
		default:
			returned = sidecheck.ReturnedError(r.text("error"))
		}
		return rendered(c.Protocol.NormalizeToolResult(ctx, returned, &sidecheck.NormalizeOptions{
			Tool: r.target("tool"), Profile: sidecheck.ResultProfile(r.text("profile")),
			Check: *r.checkOptions(),
		}))
	},
	"ConvertTools": convertToolsShared,
	"ConvertToolCall": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		var mappings []any
		for _, mapping := range r.texts("mappings") {
			mappings = append(mappings, json.RawMessage(mapping))
		}
		return rendered(c.Conversion.ConvertToolCall(ctx, r.json("call"), mappings, r.target("tool"), r.options()))
	},
	"ConvertToolResult": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Conversion.ConvertToolResult(ctx, sidecheck.ModelAPI(r.text("api")),
			sidecheck.ToolResultToConvert{
				ToolResult: r.object("result").toolResult(), CallID: r.text("call_id"), Name: r.text("name"),
			}, r.checkOptions()))
	},
	"InferTools": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Inference.InferTools(ctx, r.text("source"), &sidecheck.InferOptions{
			Functions:          r.texts("functions"),
			OnUnsupported:      sidecheck.OnUnsupported(r.text("on_unsupported")),
			InjectedTypes:      r.texts("injected_types"),
			InjectedParameters: r.texts("injected_parameters"),
		}))
	},
	"AdaptTool": func(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
		return rendered(c.Inference.AdaptTool(
			ctx, r.target("tool"), r.text("protocol_version"), r.portability("portable")))
	},
}

func rendered(result any, err error) (any, error) { return render(result), err }

func named(name string, result any, err error) (any, error) {
	return map[string]any{name: render(result)}, err
}

// collected returns all elements under name.
func collected[V any](name string, elements iter.Seq2[V, error]) (any, error) {
	all := []any{}
	for element, err := range elements {
		if err != nil {
			return nil, err
		}
		all = append(all, render(element))
	}
	return map[string]any{name: all}, nil
}

func validateShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	item := r.item()
	var verdict *sidecheck.Verdict
	var err error
	switch subject := item.Subject.(type) {
	case sidecheck.StructuredContent:
		verdict, err = c.ValidateStructuredContent(ctx, item.Target, subject.Payload, item.Options)
	case sidecheck.CallParams:
		verdict, err = c.ValidateCall(ctx, item.Target, subject.Payload, item.Options)
	case sidecheck.CallResult:
		verdict, err = c.ValidateCallResult(ctx, item.Target, subject.Payload, item.Options)
	case sidecheck.Arguments:
		verdict, err = c.Validate(ctx, item.Target, subject.Payload, item.Options)
	}
	return named("verdict", verdict, err)
}

func validateBatchShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	var items []sidecheck.Item
	for _, item := range r.objects("items") {
		items = append(items, item.item())
	}
	outcomes, err := c.ValidateBatch(ctx, items, &sidecheck.BatchOptions{
		Target: r.target("target"), Options: r.options(),
	})
	all := []any{}
	for _, outcome := range outcomes {
		all = append(all, renderOutcome("verdict", outcome.Verdict, outcome.Err))
	}
	return map[string]any{"outcomes": all}, err
}

func checkBatchShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	var items []sidecheck.CheckItem
	for _, item := range r.objects("items") {
		items = append(items, item.checkItem())
	}
	outcomes, err := c.Protocol.CheckBatch(ctx, items, r.checkOptions())
	all := []any{}
	for _, outcome := range outcomes {
		all = append(all, renderOutcome("result", outcome.Result, outcome.Err))
	}
	return map[string]any{"outcomes": all}, err
}

func validateStreamShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	items := func(yield func(sidecheck.StreamItem) bool) {
		for _, item := range r.objects("items") {
			if !yield(sidecheck.StreamItem{ID: item.text("id"), Item: item.object("item").item()}) {
				return
			}
		}
	}
	defaults := r.object("defaults")
	responses := []any{}
	for outcome, err := range c.ValidateStream(ctx, items, &sidecheck.StreamOptions{
		Target: defaults.target("target"), Options: defaults.options(),
	}) {
		if err != nil {
			return map[string]any{"responses": responses}, err
		}
		responses = append(responses, map[string]any{
			"id": outcome.ID, "outcome": renderOutcome("verdict", outcome.Verdict, outcome.Err),
		})
	}
	return map[string]any{"responses": responses}, nil
}

func checkSessionShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	defaults := r.object("defaults")
	session, err := c.Protocol.Session(ctx, &sidecheck.SessionOptions{
		Check:     *defaults.checkOptions(),
		Continued: defaults.has("from_beginning") && !defaults.flag("from_beginning"),
	})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	responses := []any{}
	for _, item := range r.objects("items") {
		message := item.object("message")
		result, err := session.Check(ctx, json.RawMessage(message.text("json")),
			sidecheck.Sender(message.text("sender")), int(item.number("http_status")))
		var closed *sidecheck.StreamClosedError
		if errors.As(err, &closed) {
			return map[string]any{"responses": responses}, err
		}
		responses = append(responses, map[string]any{
			"id": item.text("id"), "outcome": renderOutcome("result", result, err),
		})
	}
	summary, err := session.Finish(ctx)
	return map[string]any{"responses": responses, "summary": render(summary)}, err
}

func convertToolsShared(ctx context.Context, c *sidecheck.Client, r object) (any, error) {
	var tools []sidecheck.ToolToConvert
	for _, tool := range r.objects("tools") {
		tools = append(tools, sidecheck.ToolToConvert{Tool: tool.target("tool"), Server: tool.text("server")})
	}
	var options *sidecheck.ConversionOptions
	if r.has("options") {
		fields := r.object("options")
		options = &sidecheck.ConversionOptions{
			Mode:                sidecheck.ConversionMode(fields.text("mode")),
			ServerPrefix:        sidecheck.ServerPrefix(fields.text("server_prefix")),
			AssumeClosed:        fields.flag("assume_closed"),
			DescriptionLength:   fields.number("description_length"),
			IncludeOutputSchema: fields.flag("include_output_schema"),
			DropDefaults:        fields.flag("drop_defaults"),
			ProtocolVersion:     fields.text("protocol_version"),
		}
	}
	converted, err := c.Conversion.ConvertTools(ctx, sidecheck.ModelAPI(r.text("api")), tools, r.texts("servers"), options)
	if err != nil {
		return nil, err
	}
	conversions := []any{}
	for _, conversion := range converted.Conversions {
		outcome := renderOutcome("converted", conversion.Converted, conversion.Err).(map[string]any)
		outcome["server"], outcome["name"] = conversion.Server, conversion.Name
		conversions = append(conversions, outcome)
	}
	return map[string]any{"conversions": conversions, "request": render(converted.Request)}, nil
}
