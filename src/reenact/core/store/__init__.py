"""Where recordings are kept. `local` is the embedded default: a folder, and no server at all."""
