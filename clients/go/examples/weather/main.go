// Command weather is an MCP server over stdio whose tool calls are validated by Sidecheck at
// SIDECHECK_ADDRESS, by default 127.0.0.1:50151.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecheck/sidecheck/clients/go/sidecheck"
	"github.com/sidecheck/sidecheck/clients/go/sidecheckmcp"
)

var getForecast = &mcp.Tool{
	Name:        "get_forecast",
	Title:       "Forecast",
	Description: "Forecast for a city",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","minLength":1},
		"days":{"type":"integer","minimum":1,"maximum":7}},"required":["city"],"additionalProperties":false}`),
	OutputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},
		"days":{"type":"array","items":{"type":"object","properties":{"day":{"type":"integer"},
		"celsius":{"type":"number"}},"required":["day","celsius"]}}},"required":["city","days"]}`),
}

func forecast(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	arguments := struct {
		City string `json:"city"`
		Days int    `json:"days"`
	}{Days: 1}
	if err := json.Unmarshal(request.Params.Arguments, &arguments); err != nil {
		return nil, err
	}
	days := []map[string]any{}
	for day := 1; day <= arguments.Days; day++ {
		days = append(days, map[string]any{"day": day, "celsius": 10 + day})
		if arguments.City == "Atlantis" {
			days[day-1]["celsius"] = "wet"
		}
	}
	content := map[string]any{"city": arguments.City, "days": days}
	text, err := json.Marshal(content)
	return &mcp.CallToolResult{
		StructuredContent: content,
		Content:           []mcp.Content{&mcp.TextContent{Text: string(text)}},
	}, err
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, nil)
	server.AddTool(getForecast, forecast)
	client, err := sidecheck.New(cmp.Or(os.Getenv("SIDECHECK_ADDRESS"), "127.0.0.1:50151"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	sidecheckmcp.Wrap(server, client, "weather", nil)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
}
