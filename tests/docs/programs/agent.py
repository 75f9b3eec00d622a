"""The agent of the pictures: it answers a customer, with the shop and the scripted model of examples/exercise."""

import sys

import support

import reenact

QUESTION = "Please cancel my order ORD-5521."


@reenact.recorded
def answer(question: str) -> str:
    return support.serve(question)


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]) or QUESTION))
