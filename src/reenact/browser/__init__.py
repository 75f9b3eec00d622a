"""Browser sessions: act, observe and watch, in one recording."""
