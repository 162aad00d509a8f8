"""The rules of the protocol: data and small functions, each with the clause it comes from."""
