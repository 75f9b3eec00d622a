"""A team's store: lines in Postgres, blobs in an object store. Needs `reenact[team]`."""
