"""Stores of recordings. `local` is the embedded default: a folder, without a server."""
