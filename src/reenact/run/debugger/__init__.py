"""The debugger without an interface: a state machine, its breakpoints, and its protocol.

Nothing here reads a clock, a file or a socket. Faces (terminal, lines, pages) and the driver that runs the program
hand it commands and reports, and carry out the orders that it gives.
"""
