"""A shop that nobody here wrote: django-oscar with its default settings, one book, and a database made at the start."""
