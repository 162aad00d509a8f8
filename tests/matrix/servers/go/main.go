// Command go is a server of the official Go SDK: over stdio, or on the port that is given.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type request struct {
	City string `json:"city" jsonschema:"Name of the city"`
	Days int    `json:"days,omitempty"`
}

type forecast struct {
	City    string `json:"city"`
	Celsius []int  `json:"celsius"`
}

func getForecast(_ context.Context, _ *mcp.CallToolRequest, asked request) (*mcp.CallToolResult, forecast, error) {
	if asked.City == "Atlantis" {
		return nil, forecast{}, errors.New("Atlantis is lost")
	}
	celsius := []int{}
	for day := range max(asked.Days, 1) {
		celsius = append(celsius, 10+day)
	}
	return nil, forecast{asked.City, celsius}, nil
}

func newServer() *mcp.Server {
	options := mcp.ServerOptions{Instructions: "Ask by city."}
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1.0.0"}, &options)
	mcp.AddTool(server, &mcp.Tool{Name: "get_forecast", Description: "Forecast for a city"}, getForecast)
	server.AddResource(
		&mcp.Resource{URI: "weather://cities", Name: "cities", MIMEType: "text/plain"},
		func(_ context.Context, read *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			contents := []*mcp.ResourceContents{{URI: read.Params.URI, MIMEType: "text/plain", Text: "Oslo\nÅrhus"}}
			return &mcp.ReadResourceResult{Contents: contents}, nil
		})
	server.AddPrompt(
		&mcp.Prompt{Name: "ask", Arguments: []*mcp.PromptArgument{{Name: "city", Required: true}}},
		func(_ context.Context, prompt *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := "How is the weather in " + prompt.Params.Arguments["city"] + "?"
			message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{message}}, nil
		})
	return server
}

func main() {
	server := newServer()
	if len(os.Args) > 1 {
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		http.Handle("/mcp", handler)
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
