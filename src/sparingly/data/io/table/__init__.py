"""Long tables, one row for each item and model: text files, Parquet and frames."""
