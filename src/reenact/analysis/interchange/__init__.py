"""Import and export recordings in other formats."""
