"""The debugger without a face: a pure state machine, the breakpoints that it knows, and what it says to the program.

Nothing here reads a clock, a file or a socket. Faces (terminal, lines, pages) and the driver that runs the program
hand it commands and reports, and carry out the orders that it gives.
"""
