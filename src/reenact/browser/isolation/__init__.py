"""Keep a browser away from what it must not reach: addresses, files, and the sessions of others."""
