"""The debugger without a face."""
