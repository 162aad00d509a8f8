package io.sidecheck;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Channels with the addresses, service config and options of the clients of all languages. */
final class Channels {
    private static final Pattern HOST_AND_PORT = Pattern.compile("(\\[[0-9A-Fa-f:.]+\\]|[^\\s:/\\[\\]]+):(\\d{1,5})");

    private static final Pattern LOOPBACK_IPV4 = Pattern.compile("127(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}");

    private Channels() {}

    static ManagedChannel open(String address, ClientOptions options) {
        requireAddress(address);
        Tls tls = options.tls();
        if (options.token() != null && tls == null && !options.tokenWithoutTls()) {
            requireThisMachine(address);
        }
        ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(target(address), credentials(tls))
                .defaultServiceConfig(serviceConfig(address))
                .disableServiceConfigLookUp()
                .enableRetry()
                .keepAliveTime(30, TimeUnit.SECONDS)
                .keepAliveTimeout(10, TimeUnit.SECONDS)
                // The server limits what it receives. A limit on responses could only lose them.
                .maxInboundMessageSize(Integer.MAX_VALUE);
        if (tls == null) {
            // Plain text for a server nearby must not pass through a forward proxy.
            builder.proxyDetector(target -> null);
        } else if (!tls.serverName().isEmpty()) {
            builder.overrideAuthority(tls.serverName());
        }
        if (options.token() != null) {
            builder.intercept(options.token().interceptor());
        }
        return builder.build();
    }

    private static void requireAddress(String address) {
        boolean valid;
        if (address.startsWith("unix:")) {
            valid = !address.substring("unix:".length()).replace("/", "").isEmpty();
        } else {
            Matcher match = HOST_AND_PORT.matcher(host(address));
            valid = match.matches() && Integer.parseInt(match.group(2)) > 0 && Integer.parseInt(match.group(2)) < 65536;
        }
        if (!valid) {
            throw new IllegalArgumentException(
                    "invalid address \"" + address + "\"; expected host:port, dns:///host:port or unix:/path");
        }
    }

    private static void requireThisMachine(String address) {
        if (address.startsWith("unix:")) {
            return;
        }
        String host = host(address);
        String name = host.substring(0, host.lastIndexOf(':'));
        boolean isLoopback = name.equalsIgnoreCase("localhost")
                || LOOPBACK_IPV4.matcher(name).matches()
                || name.startsWith("[") && isLoopback(name);
        if (!isLoopback) {
            throw new IllegalArgumentException("the token would be sent to " + address
                    + " in plain text; set tls, or set tokenWithoutTls where the network itself is encrypted");
        }
    }

    /** Whether a literal IPv6 address in brackets, which is never looked up, is of this machine. */
    private static boolean isLoopback(String literal) {
        try {
            return InetAddress.getByName(literal).isLoopbackAddress();
        } catch (UnknownHostException error) {
            // It is malformed.
            return false;
        }
    }

    /** Returns host and port of an address that is no unix socket. */
    private static String host(String address) {
        return address.startsWith("dns:///") ? address.substring(7) : address;
    }

    /**
     * Returns the URI that gRPC resolves. It takes "name:1" for the scheme "name" unless dns is
     * named, and the path of a URI cannot have the brackets of an IPv6 address.
     */
    private static String target(String address) {
        if (address.startsWith("unix:")) {
            return address;
        }
        return "dns:///" + host(address).replace("[", "%5B").replace("]", "%5D");
    }

    private static ChannelCredentials credentials(Tls tls) {
        if (tls == null) {
            return InsecureChannelCredentials.create();
        }
        try {
            TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
            if (tls.certificateAuthorities() != null) {
                builder.trustManager(tls.certificateAuthorities().toFile());
            }
            if (tls.certificate() != null) {
                builder.keyManager(tls.certificate().toFile(), tls.key().toFile());
            }
            return builder.build();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /**
     * Only {@code UNAVAILABLE} is retried: it is transient, and the server has not processed the
     * call. Streams are not retried: gRPC would replay their items, as far as it has buffered them;
     * a watch makes its own attempts.
     */
    private static Map<String, ?> serviceConfig(String address) {
        // gRPC silently ignores names that are not fully qualified.
        Map<String, ?> retries = Map.of(
                "name",
                        Methods.SERVICES.stream()
                                .map(name -> Map.of("service", name))
                                .toList(),
                "retryPolicy",
                        Map.of(
                                "maxAttempts",
                                5.0,
                                "initialBackoff",
                                "0.01s",
                                "maxBackoff",
                                "1s",
                                "backoffMultiplier",
                                4.0,
                                "retryableStatusCodes",
                                List.of("UNAVAILABLE")));
        Map<String, ?> streams = Map.of("name", Methods.STREAMS);
        List<Map<String, ?>> methods = List.of(retries, streams);
        if (address.startsWith("dns:")) {
            // A host name with several addresses has a server at each of them.
            return Map.of("methodConfig", methods, "loadBalancingConfig", List.of(Map.of("round_robin", Map.of())));
        }
        return Map.of("methodConfig", methods);
    }
}
