"""The pictures of the guides, by subject: each function is a scene, commands that run for real in a folder of their own."""
