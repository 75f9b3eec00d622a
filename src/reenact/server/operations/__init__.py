"""What those who run a server need of it: whether it can do its work, what it counts, what it writes down.

`checks` says whether it is ready, `metrics` what Prometheus reads, `logs` what stands in its log, and `observed` stands
around an application: each request is counted, timed, named and logged there, whatever answers it.
"""
