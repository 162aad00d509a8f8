import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.GetPromptResult;
import io.modelcontextprotocol.spec.McpSchema.Prompt;
import io.modelcontextprotocol.spec.McpSchema.PromptArgument;
import io.modelcontextprotocol.spec.McpSchema.PromptMessage;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;

/** A server of the official Java SDK: over stdio, or on the port that is given. */
public final class WeatherServer {
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

    private static final String INPUT = """
            {"type": "object",
             "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
             "required": ["city"]}""";

    private static final String OUTPUT = """
            {"type": "object",
             "properties": {
               "city": {"type": "string"},
               "celsius": {"type": "array", "items": {"type": "integer"}}},
             "required": ["city", "celsius"]}""";

    private WeatherServer() {}

    public static void main(String[] args) throws LifecycleException {
        if (args.length == 0) {
            build(McpServer.sync(new StdioServerTransportProvider(JSON)));
            return;
        }
        var transport = HttpServletStreamableServerTransportProvider.builder()
                .jsonMapper(JSON)
                .mcpEndpoint("/mcp")
                .build();
        build(McpServer.sync(transport));
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setPort(Integer.parseInt(args[0]));
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "mcp", transport).setAsyncSupported(true);
        context.addServletMappingDecoded("/mcp", "mcp");
        tomcat.getConnector();
        tomcat.start();
        tomcat.getServer().await();
    }

    private static void build(McpServer.SyncSpecification<?> specification) {
        var forecast = Tool.builder("get_forecast", JSON, INPUT)
                .description("Forecast for a city")
                .outputSchema(JSON, OUTPUT)
                .build();
        var cities = Resource.builder("weather://cities", "cities").mimeType("text/plain").build();
        var city = PromptArgument.builder("city").required(true).build();
        var ask = Prompt.builder("ask").arguments(List.of(city)).build();
        specification
                .serverInfo("weather", "1.0.0")
                .instructions("Ask by city.")
                .capabilities(ServerCapabilities.builder()
                        .tools(true)
                        .resources(false, true)
                        .prompts(true)
                        .build())
                .toolCall(forecast, (exchange, request) -> forecast(request))
                .resources(new SyncResourceSpecification(cities, (exchange, request) -> {
                    var contents = new TextResourceContents(request.uri(), "text/plain", "Oslo\nÅrhus");
                    return new ReadResourceResult(List.of(contents));
                }))
                .prompts(new SyncPromptSpecification(ask, (exchange, request) -> {
                    var text = "How is the weather in " + request.arguments().get("city") + "?";
                    var message = new PromptMessage(Role.USER, new TextContent(text));
                    return new GetPromptResult(null, List.of(message));
                }))
                .build();
    }

    private static CallToolResult forecast(CallToolRequest request) {
        Object city = request.arguments().get("city");
        if (city.equals("Atlantis")) {
            return CallToolResult.builder().isError(true).addTextContent("Atlantis is lost").build();
        }
        int days = ((Number) request.arguments().getOrDefault("days", 1)).intValue();
        var celsius = IntStream.range(0, days).mapToObj(day -> 10 + day).toList();
        // Map.of iterates in an order that differs between processes.
        var content = new TreeMap<String, Object>(Map.of("city", city, "celsius", celsius));
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
