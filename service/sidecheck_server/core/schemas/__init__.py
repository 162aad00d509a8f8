"""From schema text to something that can judge: dialects, bounds, references, lowering."""
