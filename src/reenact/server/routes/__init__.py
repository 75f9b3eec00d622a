"""What the server answers, one module for each thing that it answers about."""
