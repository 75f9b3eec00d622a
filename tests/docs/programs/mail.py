"""An agent whose calls hold secrets; they are made up."""

import reenact

KEY = "sk-proj-" + "Zk3vXq8R" * 5


@reenact.tool
def connect(host: str, headers: dict, database: str) -> str:
    return "220 ready"


@reenact.tool
def send(to: str, text: str) -> dict:
    return {"to": to, "status": "queued"}


if __name__ == "__main__":
    connect(
        "mail.example.com",
        headers={"Authorization": f"Bearer {KEY}", "Accept": "application/json"},
        database="postgresql://mailer:pa55-Tr0mbone@db.example.com/mail",
    )
    print(send("ada@example.com", f"Your key is {KEY}."))
