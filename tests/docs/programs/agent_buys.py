"""A browser agent in the shop of examples/lamp_shop; its model is a script."""

from buy import TASK, model, opened, plan

from reenact import Client

client = Client()
with opened() as shop, client.Session(headless=True) as session:
    agent = client.Agent(session, reasoning_model=model(plan(hasty=False)), use_vision=False)
    result = agent.run(TASK, url=f"{shop}/shop.html")

print(result.success, result.answer)
for step in result.steps:
    print(step["action"], step["success"], step["message"])
