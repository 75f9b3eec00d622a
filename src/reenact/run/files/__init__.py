"""The files of a replayed or forked program: a scratch disk over the user's folders."""
