"""The operations of the command line, the server and Python, one module each."""
