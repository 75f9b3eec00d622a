"""A team's store: lines and what is known of them in a Postgres, blobs in an object store. Needs `reenact[team]`."""
