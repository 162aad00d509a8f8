"""What the Model Context Protocol says about the things that are judged."""
