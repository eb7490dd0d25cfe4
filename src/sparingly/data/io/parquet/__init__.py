"""Our own Parquet, one row an item."""
