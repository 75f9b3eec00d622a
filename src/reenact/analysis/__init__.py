"""Analyse recordings: nothing here runs a program or changes a recording."""
