"""The operations that the command line, the server and Python share: diff, diagnose, keep, reproduce, verify."""
