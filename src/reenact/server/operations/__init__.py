"""Operation of a server: readiness checks, metrics, logs and request observation.

`checks` has the readiness checks, `metrics` the page for Prometheus, `logs` the log. `middleware` wraps an application
to count, time, name and log each request.
"""
