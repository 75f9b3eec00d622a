"""Operation of a server: readiness checks, metrics, logs and request observation.

`checks` has the readiness, `metrics` the page for Prometheus, `logs` the log, and `observed` wraps
an application: each request is counted, timed, named and logged there, for every kind of route.
"""
