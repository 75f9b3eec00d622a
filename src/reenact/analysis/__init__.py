"""Reading recordings for what they say about the run: nothing here runs a program or changes a recording."""
