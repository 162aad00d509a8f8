package io.sidecheck;

/** API of a model provider or model server. */
public enum ModelApi {
    /** OpenAI Chat Completions. */
    OPENAI_CHAT,
    /** OpenAI Responses. */
    OPENAI_RESPONSES,
    /** Anthropic Messages. */
    ANTHROPIC,
    /** Gemini with {@code parameters}, a subset of OpenAPI 3.0. */
    GEMINI,
    /** Gemini with {@code parametersJsonSchema}. */
    GEMINI_JSON,
    /** Amazon Bedrock Converse. */
    BEDROCK,
    /** Mistral chat completions. */
    MISTRAL,
    /** Ollama chat. */
    OLLAMA,
    /** No model: MCP definitions that clients and model APIs accept as they are. */
    MCP
}
