package io.sidecheck;

import java.nio.file.Path;

/**
 * TLS of a connection. Files are PEM.
 *
 * @param certificateAuthorities certificates to trust; null trusts those of the system
 * @param certificate the client's certificate chain; null if it has none
 * @param key the client's private key (PKCS #8); null if it has none
 * @param serverName name in the server's certificate; "" is the host of the address
 */
public record Tls(Path certificateAuthorities, Path certificate, Path key, String serverName) {
    /** TLS that trusts the system's certificate authorities. */
    public static final Tls SYSTEM = new Tls(null, null, null, "");

    /**
     * Checks the arguments.
     *
     * @param certificateAuthorities certificates to trust, or null
     * @param certificate the client's certificate chain, or null
     * @param key the client's private key, or null
     * @param serverName name in the server's certificate, or ""
     * @throws IllegalArgumentException if only one of certificate and key is given
     */
    public Tls {
        if ((certificate == null) != (key == null)) {
            throw new IllegalArgumentException("a client certificate and its key belong together");
        }
    }
}
