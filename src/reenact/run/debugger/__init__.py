"""The debugger without an interface: a state machine, its breakpoints, and its protocol.

Nothing here reads a clock, a file or a socket. Interfaces (terminal, lines, pages) pass it commands. The driver, which
runs the program, passes it reports, and carries out its orders.
"""
