/**
 * Makes three calls to a running Sidecheck server and streams two payloads to it. Prints
 * one line of JSON for each call, two verdicts and an error, and for each response of the
 * stream.
 *
 * Usage: node dist/smoke.js ADDRESS, where ADDRESS is host:port or unix:/path.
 */

import { once } from "node:events";

import { type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";

import { ErrorInfo } from "./gen/google/rpc/error_details.js";
import { Status } from "./gen/google/rpc/status.js";
import {
  ValidateRequest,
  type ValidateResponse,
  ValidateStreamRequest,
  type ValidateStreamResponse,
  ValidationServiceClient,
} from "./gen/sidecheck/v1/validation_service.js";

const DEADLINE_MS = 2000;

const SCHEMA = '{"type":"object","required":["q"],"properties":{"q":{"type":"string"}}}';
const UNKNOWN_DIALECT = '{"$schema":"https://example.com/dialect"}';

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";

/** Validates the arguments of a tool call against a schema sent inline. */
function validate(
  client: ValidationServiceClient,
  schema: string,
  args: string,
): Promise<ValidateResponse> {
  const request = ValidateRequest.create({
    target: { target: { $case: "inlineSchema", value: { json: Buffer.from(schema) } } },
    subject: { subject: { $case: "arguments", value: Buffer.from(args) } },
  });
  const options = { deadline: Date.now() + DEADLINE_MS };
  return new Promise((resolve, reject) => {
    client.validate(request, new Metadata(), options, (error, response) => {
      if (error) {
        reject(error);
      } else {
        resolve(response);
      }
    });
  });
}

/** Returns the first message of a stream: the target that its items share. */
function defaults(schema: string): ValidateStreamRequest {
  const target = { $case: "inlineSchema", value: { json: Buffer.from(schema) } } as const;
  return ValidateStreamRequest.create({
    message: { $case: "defaults", value: { target: { target } } },
  });
}

/** Returns the message for one payload of a stream; its response has the same id. */
function item(id: string, args: string): ValidateStreamRequest {
  const subject = { $case: "arguments", value: Buffer.from(args) } as const;
  return ValidateStreamRequest.create({
    message: { $case: "item", value: { id, item: { subject: { subject } } } },
  });
}

type Call = ClientDuplexStream<ValidateStreamRequest, ValidateStreamResponse>;

/** Sends the messages of a stream, waiting while its buffer is full. */
async function send(call: Call, schema: string, payloads: Iterable<string>): Promise<void> {
  call.write(defaults(schema));
  let id = 0;
  for (const args of payloads) {
    if (!call.write(item(String(id++), args))) {
      await once(call, "drain");
    }
  }
  call.end();
}

/**
 * Validates the arguments of tool calls as they come, and yields the responses. Leaving
 * early cancels the call.
 */
async function* validateStream(
  client: ValidationServiceClient,
  schema: string,
  payloads: Iterable<string>,
): AsyncGenerator<ValidateStreamResponse> {
  const call = client.validateStream(new Metadata(), { deadline: Date.now() + DEADLINE_MS });
  // An error of the call is thrown where its responses are read, and only there.
  call.on("error", () => undefined);
  send(call, schema, payloads).catch(() => undefined);
  try {
    for await (const response of call) {
      yield response as ValidateStreamResponse;
    }
  } finally {
    call.cancel();
  }
}

/** Returns the `google.rpc.ErrorInfo` of Sidecheck in the error of a call. */
function findErrorInfo(error: ServiceError): ErrorInfo | undefined {
  return error.metadata
    .get("grpc-status-details-bin")
    .flatMap((trailer) => Status.decode(Buffer.from(trailer)).details)
    .filter((detail) => detail.typeUrl === ERROR_INFO)
    .map((detail) => ErrorInfo.decode(detail.value))
    .find((info) => info.domain === "sidecheck");
}

/** Makes the calls to the server at `address` and prints a line for each response. */
async function run(address: string): Promise<void> {
  // A sidecar runs nearby: the proxy of the environment must not be used.
  const client = new ValidationServiceClient(address, credentials.createInsecure(), {
    "grpc.enable_http_proxy": 0,
  });
  try {
    for (const args of ['{"q":"x"}', '{"Q":1}']) {
      const { verdict } = await validate(client, SCHEMA, args);
      if (verdict === undefined) {
        throw new Error(`the response to ${args} has no verdict`);
      }
      const codes = verdict.violations.map((violation) => violation.code);
      console.log(JSON.stringify({ valid: verdict.valid, codes }));
    }

    const error = await validate(client, UNKNOWN_DIALECT, "{}").then(
      () => {
        throw new Error(`expected an error for ${UNKNOWN_DIALECT}, but the call succeeded`);
      },
      (error: ServiceError) => error,
    );
    const info = findErrorInfo(error);
    if (info === undefined) {
      throw error;
    }
    console.log(JSON.stringify({ error: info.reason, status: status[error.code] }));

    for await (const { id, outcome } of validateStream(client, SCHEMA, ['{"q":"x"}', '{"Q":1}'])) {
      if (outcome?.outcome?.$case !== "verdict") {
        throw new Error(`item ${id} has no verdict`);
      }
      console.log(JSON.stringify({ id, valid: outcome.outcome.value.valid }));
    }
  } finally {
    client.close();
  }
}

const [address, ...rest] = process.argv.slice(2);
if (address === undefined || rest.length > 0) {
  console.error("usage: smoke ADDRESS");
  process.exitCode = 2;
} else {
  run(address).catch((error: unknown) => {
    console.error(`smoke: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  });
}
