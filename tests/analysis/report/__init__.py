"""What is written about a recording."""
