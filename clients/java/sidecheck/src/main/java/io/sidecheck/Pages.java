package io.sidecheck;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** Elements of all pages, which are fetched as they are iterated, by token; "" is the first. */
record Pages<T>(Function<String, Page<T>> fetch) implements Iterable<T> {
    /** One page; {@code nextToken} is "" for the last. */
    record Page<T>(List<T> elements, String nextToken) {}

    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private Page<T> page = fetch.apply("");
            private Iterator<T> elements = page.elements().iterator();

            @Override
            public boolean hasNext() {
                while (!elements.hasNext() && !page.nextToken().isEmpty()) {
                    page = fetch.apply(page.nextToken());
                    elements = page.elements().iterator();
                }
                return elements.hasNext();
            }

            @Override
            public T next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                return elements.next();
            }
        };
    }
}
