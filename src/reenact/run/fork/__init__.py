"""Fork: replay up to a step, then go on live, or with an edited answer, as a new recording."""
