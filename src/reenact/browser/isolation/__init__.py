"""Keep a browser away from addresses, files, and the sessions of others."""
