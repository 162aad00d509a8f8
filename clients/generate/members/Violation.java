    /**
     * Returns the location, the message, the suggestion and the code, in one line, with a space in
     * place of each character that is not printable.
     */
    @Override
    public String toString() {
        return Texts.describe(this);
    }
