"""Who said what: memories and where they come from; what follows from them is decided elsewhere."""
