package io.sidecheck;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;

/** Iterates what is received from a server, until it is empty. */
final class ReceivingIterator<T> implements Iterator<T> {
    private final Source<T> source;
    private Optional<T> next;

    /** Waits for the next element; empty is after the last. */
    @FunctionalInterface
    interface Source<T> {
        Optional<T> receive() throws InterruptedException;
    }

    ReceivingIterator(Source<T> source) {
        this.source = source;
    }

    @Override
    public boolean hasNext() {
        if (next == null) {
            try {
                next = source.receive();
            } catch (InterruptedException interrupt) {
                throw UnaryCall.interrupted(interrupt);
            }
        }
        return next.isPresent();
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        T element = next.get();
        next = null;
        return element;
    }
}
