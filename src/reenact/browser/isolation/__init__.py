"""Keep a browser from addresses, files, and the sessions of others."""
