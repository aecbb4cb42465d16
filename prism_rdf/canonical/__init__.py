"""What a thing is: the catalog of types, and the shapes derived from it; names and times of things live elsewhere."""
