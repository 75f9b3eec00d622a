"""The camera: record a browser's pictures and page events beside the recording's events."""
