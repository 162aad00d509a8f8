package io.sidecheck;

import java.util.List;

/**
 * Options of a portable form: a definition that model APIs and clients accept as it is.
 *
 * @param targets model APIs and clients that must accept the definition, named as for {@code sidecheck
 *     check --for}, for example {@code openai} or {@code claude-code}; none are all but {@code
 *     openai-strict}
 * @param prove whether to prove that the form accepts every call that the original accepts
 */
public record Portability(List<String> targets, boolean prove) {
    /** For all targets but {@code openai-strict}, without a proof. */
    public static final Portability DEFAULTS = new Portability(List.of(), false);
}
