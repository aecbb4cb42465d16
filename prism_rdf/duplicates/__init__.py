"""The duplicates room: which entities may be one thing, how likely, and why; merging them is done elsewhere."""
