"""HTTP, at each library's transport: below retries and redirects, above sockets and TLS.

Every attempt is an effect of kind `http`. `exchange` holds what the adapters share, the others patch one library
each. `docs/http.md` says what is hooked, what is recorded, and what cannot be seen.
"""
