"""Scripts with threads, loops and processes, recorded and replayed through the command line.

They share nothing with the implementation, and do not name it: plain programs of the standard library, which ask a
server of their own process group for answers that come late and are different each time.
"""
