package sidecheck

// decodeAll returns the values of messages, nil for none.
func decodeAll[M, V any](messages []*M, decode func(*M) V) []V {
	if len(messages) == 0 {
		return nil
	}
	values := make([]V, len(messages))
	for index, message := range messages {
		values[index] = decode(message)
	}
	return values
}

// decodeOptional returns the value of message, nil for nil.
func decodeOptional[M, V any](message *M, decode func(*M) V) *V {
	if message == nil {
		return nil
	}
	value := decode(message)
	return &value
}
