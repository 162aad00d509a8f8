/** Addresses, credentials and options of gRPC channels. */

import { type ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";

import { ConversionServiceService } from "./gen/sidecheck/v1/conversion_service.js";
import { InferenceServiceService } from "./gen/sidecheck/v1/inference_service.js";
import { InfoServiceService } from "./gen/sidecheck/v1/info_service.js";
import { ProtocolServiceService } from "./gen/sidecheck/v1/protocol_service.js";
import { RegistryServiceService } from "./gen/sidecheck/v1/registry_service.js";
import { ValidationServiceService } from "./gen/sidecheck/v1/validation_service.js";

/** Certificates and names of a connection with TLS; all as PEM text. */
export interface TlsOptions {
  /** Certificates of the authorities that the server's must be of; the system's if absent. */
  readonly ca?: string | Uint8Array | undefined;
  /** Certificate chain of the client, for servers that require one; needs `key`. */
  readonly certificate?: string | Uint8Array | undefined;
  /** Private key of the client's certificate. */
  readonly key?: string | Uint8Array | undefined;
  /** Name that the server's certificate must have; the host of the address if absent. */
  readonly serverName?: string | undefined;
}

/** Relative, or after one or three slashes. After two, gRPC expects a host. */
const SOCKET_PATH = /^(\/|\/{3,})?[^/]/;
const HOST_AND_PORT = /^(\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):(\d{1,5})$/;

/**
 * @internal Checks an address. gRPC itself would assume port 443 where it is missing, and take an
 * unknown scheme for a host name.
 *
 * @throws TypeError if it has none of the forms that {@link Client} takes.
 */
export function checkAddress(address: string): void {
  const [, , port] = HOST_AND_PORT.exec(address.replace(/^dns:\/\/\//, "")) ?? [];
  const valid = address.startsWith("unix:")
    ? SOCKET_PATH.test(address.slice("unix:".length))
    : Number(port) > 0 && Number(port) < 2 ** 16;
  if (!valid) {
    throw new TypeError(
      `invalid address ${JSON.stringify(address)}; expected host:port, dns:///host:port or unix:/path`,
    );
  }
}

/** @internal */
export function channelCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) {
    return credentials.createInsecure();
  }
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    throw new TypeError("invalid tls; certificate and key must be given together");
  }
  const [ca, key, certificate] = [tls.ca, tls.key, tls.certificate].map((pem) =>
    pem === undefined ? null : Buffer.from(pem),
  );
  return credentials.createSsl(ca, key, certificate);
}

/** @internal */
export function channelOptions(address: string, tls: TlsOptions | undefined): ChannelOptions {
  return {
    "grpc.service_config": JSON.stringify(serviceConfig(address)),
    // A service config from DNS would replace this one.
    "grpc.service_config_disable_resolution": 1,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
    // Bounds the time until a restarted server is found again; gRPC's default is two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 500,
    // The server limits what it receives. A limit on responses could only lose them.
    "grpc.max_send_message_length": -1,
    "grpc.max_receive_message_length": -1,
    // By default requests beyond 1 MiB, and 16 MiB in all, are not retried. They are in memory anyway.
    "grpc.per_rpc_retry_buffer_size": Number.MAX_SAFE_INTEGER,
    "grpc.retry_buffer_size": Number.MAX_SAFE_INTEGER,
    // A connection belongs to its client, and ends with it.
    "grpc.use_local_subchannel_pool": 1,
    // Plain text for a server nearby must not pass through a forward proxy.
    ...(tls === undefined && { "grpc.enable_http_proxy": 0 }),
    ...(tls?.serverName && {
      "grpc.ssl_target_name_override": tls.serverName,
      "grpc.default_authority": tls.serverName,
    }),
  };
}

/** What a service config needs to know of a method. */
interface Rpc {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/**
 * Returns the service config. Only UNAVAILABLE is retried: it is transient, and the server has not
 * processed the call. Streams are not retried: gRPC would replay their items, as far as it has
 * buffered them, and a watch connects again by itself, when the server asks for. Each call carries a
 * deadline of its own instead of a `timeout` here.
 */
function serviceConfig(address: string): object {
  const rpcs = [
    ConversionServiceService,
    InferenceServiceService,
    InfoServiceService,
    ProtocolServiceService,
    RegistryServiceService,
    ValidationServiceService,
  ].flatMap((service) => Object.values<Rpc>(service));
  const names = rpcs.map(({ path, requestStream, responseStream }) => {
    const [, service = "", method = ""] = path.split("/");
    return { service, method, streams: requestStream || responseStream };
  });
  const retries = {
    // gRPC ignores names that are not fully qualified.
    name: [...new Set(names.map(({ service }) => service))].map((service) => ({ service })),
    retryPolicy: {
      maxAttempts: 5,
      initialBackoff: "0.01s",
      maxBackoff: "1s",
      backoffMultiplier: 4,
      retryableStatusCodes: ["UNAVAILABLE"],
    },
  };
  const streams = {
    name: names
      .filter(({ streams }) => streams)
      .map(({ service, method }) => ({ service, method })),
  };
  return {
    methodConfig: [retries, streams],
    // A host name with several addresses has a server at each of them.
    ...(address.startsWith("dns:") && { loadBalancingConfig: [{ round_robin: {} }] }),
  };
}
