import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.sidecheck.Client;
import io.sidecheck.mcp.ToolCallValidator;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** An MCP server over stdio whose calls and results are validated by Sidecheck. */
public final class WeatherServer {
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

    private static final String INPUT = """
            {"type": "object", "properties": {
              "city": {"type": "string", "minLength": 1},
              "days": {"type": "integer", "minimum": 1, "maximum": 7}},
             "required": ["city"], "additionalProperties": false}""";

    private static final String OUTPUT = """
            {"type": "object", "properties": {
              "city": {"type": "string"},
              "days": {"type": "array", "items": {
                "type": "object",
                "properties": {"day": {"type": "integer"}, "celsius": {"type": "number"}},
                "required": ["day", "celsius"]}}},
             "required": ["city", "days"]}""";

    private WeatherServer() {}

    public static void main(String[] args) {
        var sidecheck = new Client(System.getenv().getOrDefault("SIDECHECK_ADDRESS", "127.0.0.1:50151"));
        var forecast = new SyncToolSpecification(
                Tool.builder("get_forecast", JSON, INPUT)
                        .title("Forecast")
                        .description("Forecast for a city")
                        .outputSchema(JSON, OUTPUT)
                        .build(),
                (exchange, request) -> forecast(request));
        McpServer.sync(new StdioServerTransportProvider(JSON))
                .serverInfo("weather", "1.0.0")
                .capabilities(ServerCapabilities.builder().tools(true).build())
                .validateToolInputs(false)
                .tools(new ToolCallValidator(sidecheck, "weather").wrap(forecast))
                .build();
    }

    private static CallToolResult forecast(CallToolRequest request) {
        Object city = request.arguments().get("city");
        int count = ((Number) request.arguments().getOrDefault("days", 1)).intValue();
        List<Map<String, Object>> days = IntStream.rangeClosed(1, count)
                .mapToObj(day ->
                        Map.<String, Object>of("day", day, "celsius", city.equals("Atlantis") ? "wet" : 10 + day))
                .toList();
        Map<String, Object> content = Map.of("city", city, "days", days);
        try {
            return CallToolResult.builder()
                    .structuredContent(content)
                    .addTextContent(JSON.writeValueAsString(content))
                    .build();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
