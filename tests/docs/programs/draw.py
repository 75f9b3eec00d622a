"""A program whose output is another in each run."""

import random
from datetime import datetime
from uuid import uuid4

print("time   ", datetime.now().astimezone())
print("ticket ", uuid4())
print("number ", random.random())
