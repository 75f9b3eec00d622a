"""Actions on a page: their types, their execution, and the reasons why they fail."""
