/**
 * Makes three calls to a running Sidecheck server, and holds a stream of two payloads
 * with it. Prints one line of JSON for each call, two verdicts and a refusal, and for
 * each answer in the stream.
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

/** Has the arguments of a tool call judged under a schema sent along. */
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

/** What the items of a stream share; its first message. */
function defaults(schema: string): ValidateStreamRequest {
  const target = { $case: "inlineSchema", value: { json: Buffer.from(schema) } } as const;
  return ValidateStreamRequest.create({
    message: { $case: "defaults", value: { target: { target } } },
  });
}

/** One payload of a stream; its answer has the same id. */
function item(id: string, args: string): ValidateStreamRequest {
  const subject = { $case: "arguments", value: Buffer.from(args) } as const;
  return ValidateStreamRequest.create({
    message: { $case: "item", value: { id, item: { subject: { subject } } } },
  });
}

type Call = ClientDuplexStream<ValidateStreamRequest, ValidateStreamResponse>;

/** Sends the messages of a stream, no faster than they go. */
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
 * Has the arguments of tool calls judged as they come, and yields the answers. Leaving
 * early cancels the call.
 */
async function* validateStream(
  client: ValidationServiceClient,
  schema: string,
  payloads: Iterable<string>,
): AsyncGenerator<ValidateStreamResponse> {
  const call = client.validateStream(new Metadata(), { deadline: Date.now() + DEADLINE_MS });
  // What ends the call early is raised where its answers are read, and only there.
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

/** Finds the `google.rpc.ErrorInfo` of Sidecheck in the error of a call. */
function findRefusal(error: ServiceError): ErrorInfo | undefined {
  return error.metadata
    .get("grpc-status-details-bin")
    .flatMap((trailer) => Status.decode(Buffer.from(trailer)).details)
    .filter((detail) => detail.typeUrl === ERROR_INFO)
    .map((detail) => ErrorInfo.decode(detail.value))
    .find((info) => info.domain === "sidecheck");
}

/** Makes the calls to the server at `address` and prints a line for each answer. */
async function run(address: string): Promise<void> {
  // A sidecar is a neighbour: whatever proxy the environment names, it is not on
  // the way.
  const client = new ValidationServiceClient(address, credentials.createInsecure(), {
    "grpc.enable_http_proxy": 0,
  });
  try {
    for (const args of ['{"q":"x"}', '{"Q":1}']) {
      const { verdict } = await validate(client, SCHEMA, args);
      if (verdict === undefined) {
        throw new Error(`the answer to ${args} has no verdict`);
      }
      const codes = verdict.violations.map((violation) => violation.code);
      console.log(JSON.stringify({ valid: verdict.valid, codes }));
    }

    const error = await validate(client, UNKNOWN_DIALECT, "{}").then(
      () => {
        throw new Error(`a refusal of ${UNKNOWN_DIALECT} was expected, but the call succeeded`);
      },
      (error: ServiceError) => error,
    );
    const refusal = findRefusal(error);
    if (refusal === undefined) {
      throw error;
    }
    console.log(JSON.stringify({ refused: refusal.reason, status: status[error.code] }));

    for await (const { id, outcome } of validateStream(client, SCHEMA, ['{"q":"x"}', '{"Q":1}'])) {
      if (outcome?.outcome?.$case !== "verdict") {
        throw new Error(`item ${id} was refused`);
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
