package sidecheck_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sidecheck/sidecheck/clients/go/internal/sidechecktest"
)

// TestExamples runs the examples with a server and compares what they print with the comment at
// their end. Output comments would make them fail without a server.
func TestExamples(t *testing.T) {
	address = sidechecktest.RealServer(t)
	client = sidechecktest.Open(t, address, nil)
	var cancel context.CancelFunc
	ctx, cancel = context.WithTimeout(t.Context(), sidechecktest.Patience)
	defer cancel()
	examples := map[string]func(){
		"Example":                              Example,
		"ExampleClient_Validate":               ExampleClient_Validate,
		"ExampleClient_Register":               ExampleClient_Register,
		"ExampleClient_List":                   ExampleClient_List,
		"ExampleClient_Watch":                  ExampleClient_Watch,
		"ExampleClient_ValidateBatch":          ExampleClient_ValidateBatch,
		"ExampleClient_ValidateStream":         ExampleClient_ValidateStream,
		"ExampleError":                         ExampleError,
		"ExampleProtocolClient_CheckMessage":   ExampleProtocolClient_CheckMessage,
		"ExampleProtocolClient_Session":        ExampleProtocolClient_Session,
		"ExampleConversionClient_ConvertTools": ExampleConversionClient_ConvertTools,
		"ExampleInferenceClient_InferTools":    ExampleInferenceClient_InferTools,
	}
	file, err := parser.ParseFile(token.NewFileSet(), "example_test.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		function, isFunction := declaration.(*ast.FuncDecl)
		if !isFunction {
			continue
		}
		t.Run(function.Name.Name, func(t *testing.T) {
			var want string
			for _, comment := range file.Comments {
				if comment.Pos() > function.Body.Pos() && comment.End() < function.Body.End() {
					_, want, _ = strings.Cut(comment.Text(), "Prints:\n")
				}
			}
			example := examples[function.Name.Name]
			if example == nil || want == "" {
				t.Fatal("the example is not listed here, or does not say what it prints")
			}
			if printed := capture(t, example); printed != want {
				t.Errorf("got %q, want %q", printed, want)
			}
		})
	}
}

// capture returns what function prints, which must fit in the buffer of a pipe.
func capture(t *testing.T, function func()) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = writer
	function()
	os.Stdout = stdout
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	printed, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(printed)
}
