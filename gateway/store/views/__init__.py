"""What operators see of the store: lists and single records, read and never decided upon, a page at a time."""
