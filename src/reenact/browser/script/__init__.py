"""Write a browser session as a script."""
