"""Secrets in the forms of databases, tables, infrastructure, files of settings and commands; and what only looks so."""

from __future__ import annotations

import json

import pytest

SECRET = "correct-Horse_battery9"
PACKED = "Y29ycmVjdC1Ib3JzZV9iYXR0ZXJ5OQ=="
S, P = SECRET, PACKED

ROWS = {
    "a row of SQL": f"INSERT INTO users (name, password) VALUES ('ann','{S}');",
    "rows of SQL": f"INSERT INTO u (name, password, n) VALUES ('ann','{S}',1), ('bo''b', '{S}', now());",
    "quoted columns of SQL": f"insert into `users` (`id`,`password`) values (1,'{S}'),(2,'{S}')",
    "columns in double quotes": f'INSERT INTO "users" ("id","password") VALUES (1,\'{S}\')',
    "columns in brackets": f"INSERT INTO [dbo].[users] ([id],[password]) VALUES (1,N'{S}')",
    "rows of SQL on lines": f"INSERT INTO u (name,\n password)\nVALUES\n  ('ann', '{S}'),\n  ('bob', NULL),\n ('x','{S}');\n",
    "a replaced row": f"REPLACE INTO users (password, name) VALUES ('{S}','x')",
    "an update": f"UPDATE users SET password = '{S}', x = 1 WHERE id=1",
    "a condition": f"SELECT * FROM users WHERE password = '{S}'",
    "rows of COPY": f"COPY users (name, password) FROM stdin;\nann\t{S}\n\\.\n",
    "a list of lists": json.dumps([["user", "password"], ["ann", S], ["bob", S]]),
    "a list of lists with numbers": json.dumps(
        [["user", "password", "age"], ["ann", S, 3], ["bob", S, None]]
    ),
    "an indented list of lists": json.dumps([["user", "password", "age"], ["ann", S, [1]]], indent=1),
    "columns and rows": json.dumps({"columns": ["user", "password"], "rows": [["ann", S], ["b", S]]}),
    "columns and data": json.dumps({"columns": ["user", "password"], "index": [0], "data": [["ann", S]]}),
    "a header and rows": json.dumps({"header": ["user", "password", "n"], "rows": [["ann", S, None]]}),
    "rows and columns": json.dumps({"rows": [["ann", S]], "columns": ["user", "password"]}),
    "fields and values": json.dumps({"fields": ["user", "password"], "values": [["ann", S]]}),
    "a series": json.dumps({"series": [{"columns": ["time", "password"], "values": [[1, S]]}]}),
    "a table of psql": f" user | password \n------+----------\n ann  | {S}\n",
    "a table of mysql": f"+------+----------+\n| user | password |\n+------+----------+\n| ann  | {S} |\n+---+\n",
}
SENSITIVE = [[{"type": "get_attr", "value": "result"}]]
INFRASTRUCTURE = {
    "a state's attribute": json.dumps({"attributes": {"id": "1", "master_password": S}}),
    "a sensitive attribute": json.dumps(
        {"attributes": {"id": "1", "result": S}, "sensitive_attributes": SENSITIVE}
    ),
    "an indented state": json.dumps(
        {"attributes": {"result": S, "zone": "a"}, "sensitive_attributes": SENSITIVE}, indent=2
    ),
    "an output": json.dumps({"outputs": {"x": {"value": S, "type": "string", "sensitive": True}}}),
    "an output of the command": json.dumps(
        {"x": {"sensitive": True, "type": "string", "value": S}}, indent=2
    ),
    "an output that is an object": json.dumps({"x": {"sensitive": True, "value": {"a": S, "b": [S]}}}),
    "a variable's file": f'db_password = "{S}"\nregion = "x"\n',
    "a map of variables": f'db = {{\n  password = "{S}"\n}}\n',
    "a variable of lines": f"db_password = <<EOF\n{S}\nEOF\n",
    "a Secret": f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  foo: {P}\n",
    "a Secret of texts": f"kind: Secret\nmetadata:\n  name: x\nstringData:\n  foo: {S}\n  bar: '{S}'\n",
    "a Secret with its kind last": f"apiVersion: v1\nstringData:\n  foo: {S}\n  b: |\n    {S}\nkind: Secret\n",
    "a Secret of JSON": json.dumps({"kind": "Secret", "data": {"foo": P}, "metadata": {"name": "x"}}),
    "an indented Secret of JSON": json.dumps({"stringData": {"foo": S}, "kind": "Secret"}, indent=4),
    "a unit's environment": f'[Service]\nEnvironment="DB_PASSWORD={S}" "A=b"\n',
    "a unit's environment in one": f"[Service]\nEnvironment=A=b DB_PASSWORD={S}\n",
    "a container's environment": json.dumps({"Env": ["A=b", f"DB_PASSWORD={S}"]}),
    "a composed service": f"environment:\n  - DB_PASSWORD={S}\n  - A=b\n",
}
FILES = {
    "WIFI": f"WIFI:T:WPA;S:net;P:{S};;",
    "WIFI, hidden": f'WIFI:S:net;T:WPA;P:"{S}";H:true;;',
    "WIFI, password first": f"WIFI:P:{S};T:WPA;S:net;;",
    ".pgpass with a port of its own": f"db.example.com:5999:shop:ann:{S}\n",
    ".pgpass with any port": f"db.example.com:*:shop:ann:{S}\n",
    ".pgpass with any database": f"# host:port\nlocalhost:7777:*:postgres:{S}\nh2:9999:db:u:{S}\n",
    ".my.cnf": f"[client]\nuser = ann\npassword = {S}\nhost=h\n",
    ".my.cnf in quotes": f'[client]\npassword="{S}"\n',
    "a block of YAML": f"db:\n  password: >-\n    {S}\n  user: x\n",
    "a block with a type": f"password: !!str |\n  {S}\nuser: x\n",
    "a block with a remark": f"password: |  # the one\n  {S}\n",
    "a block with an empty line": f"private_key: |\n  {S}\n\n  {S}x\nuser: x\n",
    "a list of YAML": f"password:\n- {S}\n- '{S}'\n",
    "a value in the next line": f"password:\n  {S}\nuser: x\n",
    "a value with a type": f"password: !!str {S}\n",
    "a value with an anchor": f"password: &p {S}\n",
    "TOML": f"[db]\npassword = '{S}'\n",
    "lines of TOML": f'password = """\n{S}"""\n',
    "literal lines of TOML": f"password = '''\n{S}\n'''\n",
    "a table of TOML": f'db = {{ user = "x", password = "{S}" }}\n',
    ".env": f'export DB_PASSWORD="{S}"\nexport A=1\nDB_PASS={S}\nSECRET_KEY_BASE={S}\n',
    ".env with spaces": f"DB_PASSWORD='{S} and more'\n",
    "fish": f"set -gx DB_PASSWORD {S}\n",
    "redis.conf": f"requirepass {S}\n",
    "an attribute": f'<db user="x" dbPassword="{S}" />',
    "an element with a namespace": f'<wsse:Password Type="http://x#PasswordText">{S}</wsse:Password>',
    "an element and its neighbour": f"<property><name>password</name><value>{S}</value></property>",
    "a part with a type": f'--b\r\nContent-Disposition: form-data; name="api_key"\r\nContent-Type: a/b\r\n\r\n{S}\r\n--b--',
    "a part that breaks off": f'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{S}',
    "a file of a form": f'--b\r\nContent-Disposition: form-data; filename="x"; name="secret"\r\n\r\n{S}\r\n--b--\r\n',
    "a referrer": f"GET / HTTP/1.1\r\nReferer: https://x.y/login?user=a&password={S}&b=c\r\nAccept: */*\r\n",
    "an escaped referrer": json.dumps({"Referer": f"https://x.y/login?next=%2Fa%3Ftoken%3D{S}"}),
}
COMMANDS = {
    "curl": f"curl -u user:{S} https://x.y",
    "curl by a proxy": f"curl -x http://proxy:3128 -U user:{S} https://x.y",
    "curl by a proxy's address": f"curl -x ann:{S}@proxy:3128 https://x",
    "a proxy": f"HTTPS_PROXY=http://ann:{S}@proxy:3128",
    "wget": f"wget --http-user=ann --http-password='{S}' https://x",
    "a flag": f"tool --password {S}",
    "mysql": f"mysql -u root -p{S} db",
    "mysqldump": f"mysqldump -uroot -p'{S}' db > x",
    "docker": f"docker run -e 'DB_PASSWORD={S}' img",
    "7z": f"7z x -p{S} a.7z",
}


@pytest.mark.parametrize(
    "forms", [ROWS, INFRASTRUCTURE, FILES, COMMANDS], ids=["rows", "infrastructure", "files", "commands"]
)
def test_a_secret_leaves_as_text_and_within_texts_of_json(redactor, forms):
    kept = {}
    for name, form in forms.items():
        text = form
        for depth in range(3):
            clean = redactor.raw(text.encode())
            if SECRET.encode() in clean or PACKED.encode() in clean or redactor.raw(clean) != clean:
                kept[name, depth] = clean
            text = json.dumps({"content": text})
            json.loads(redactor.line(text.encode()))
    assert not kept


def test_all_but_the_secret_column_of_a_table_stays(redactor):
    rows = [["ann the first", SECRET, 3, None], ["bob the second", "12345678", 4, {"a": [1]}]]
    for table in (
        [["user", "password", "n", "x"], *rows],
        {"columns": ["user", "password", "n", "x"], "rows": rows},
    ):
        clean = json.loads(redactor.line(json.dumps(table).encode()))
        found = clean["rows"] if isinstance(clean, dict) else clean[1:]
        assert [[row[0], *row[2:]] for row in found] == [[row[0], *row[2:]] for row in rows]
        assert all(row[1].startswith("[[secret:") for row in found)


HARMLESS = [
    "The password is stored as a hash. Passwords must have ten characters; a token is valid for an hour.",
    "Values (in euros) of the token: 5. Insert into the slot (password, name) values that you like.",
    "INSERT INTO users (name, password) SELECT name, password FROM old WHERE name = 'ann_the_first1'",
    "INSERT INTO users (name, password) VALUES (?, ?), (:name, :password), (%s, %s), ($1, $2)",
    "INSERT INTO t (name, max_tokens, token_count) VALUES ('ann the first', 'abcd1234efgh', '12345678')",
    "UPDATE users SET name = 'Ann Miller' WHERE token_count > 12345678",
    "CREATE TABLE users (name text, password text NOT NULL DEFAULT '')",
    "COPY t (name, age) FROM stdin;\nann12345\t33333333\n\\.\n",
    json.dumps(
        [["user", "token count", "max_tokens"], ["ann the first", 123456, 4096], ["b", "12345678", "9999"]]
    ),
    json.dumps({"columns": ["name", "token_count"], "rows": [["ann_the_first1", "12345678"]]}),
    json.dumps(
        {"columns": ["name", "password_changed_at"], "data": [["ann_the_first1", "2024-01-01T00:00"]]}
    ),
    json.dumps([["password", "required"], ["username", "optional1234"], ["x", "y"]]),
    json.dumps({"required": ["user", "password"], "rows": [["ann_the_first1", "b_the_second22"]]}),
    json.dumps({"outputs": {"url": {"value": "https://x.y/z12345", "sensitive": False}}}),
    json.dumps({"attributes": {"id": "vpc-12345678", "name": "main-network-1"}, "sensitive_attributes": []}),
    'variable "db_password" {\n  type = string\n  sensitive = true\n}\n',
    "kind: ConfigMap\ndata:\n  foo: bar_baz_12345\n---\nkind: Secret\nmetadata:\n  name: my-secret-name-1\n",
    "kind: SecretStore\ndata:\n  foo: bar_baz_12345\n",
    json.dumps({"kind": "ConfigMap", "data": {"foo": "bar_baz_12345"}}),
    "Connect to WIFI: the network is called Guest; P: see the board;",
    "password:\n  type: string\n  description: the one\n",
    "password:\n  - required\n  - minlength\n",
    "Password:\n  Please enter the password that was sent to you.\n",
    "properties:\n  password:\n    additionalProperties: false\n    $ref: '#/x'\n",
    "token: !Ref MyToken\npassword: !Sub '${x}'\n",
    "password << endl; token <<= 3; if (password << 2) {}",
    "def test(password):\n    '''Check the password.'''\n    return password\n",
    "set -e; set -x; echo password reset\n",
    "curl -x http://proxy:3128 -x proxy:3128 https://x.y",
    "mysql -p -u root; mysqldump --opt -p 'shop'",
    "10:30:45:12345:a:b\nfile.py:1234:5:def:x\nfe80:1234:abcd:ef01:1234\n",
    "def login(user, password):\n    token = make_token(user)\n    return token\n\nvalues = [1, 2]\nd.values()\n",
    '[tool.x]\nname = "password_reset_1"\ntoken_count = "12345678"\n',
    "enter the password \nand press return_the_key_1\n",
    '--b\r\nContent-Disposition: form-data; name="comment"\r\n\r\nhello_world_1234',
]


def test_what_only_resembles_these_forms_stays(redactor):
    changed = {}
    for form in HARMLESS:
        text = form
        for depth in range(3):
            data = text.encode()
            if redactor.raw(data) is not data:
                changed[form, depth] = redactor.raw(data)
            text = json.dumps({"content": text})
    assert not changed
