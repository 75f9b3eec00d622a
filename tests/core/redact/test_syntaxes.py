"""A secret under any name leaves in any syntax and any encoding: the product of the three."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest

from reenact.core.redact import Redactor
from tests.core.redact.samples import SALT

SECRET = "correct-Horse_battery9"
TOKEN = Redactor(salt=SALT).secret("x", SECRET)
KNOWN = "an-opaque?text>>of the environment"
NAMES = [
    "password",
    "apiKey",
    "api_key",
    "CLIENT-SECRET",
    "db.password",
    "userPin",
    "csrf_token",
    "x-api-key",
    "OTP",
]

SYNTAXES = {
    "JSON": lambda n, v: json.dumps({"a": 1, n: v, "b": 2}),
    "JSON in JSON": lambda n, v: json.dumps({"a": json.dumps({n: v})}),
    "a Python repr": lambda n, v: repr({"a": 1, n: v}),
    "a form": lambda n, v: f"a=b&{n}={v}&c=d",
    "a URL's query": lambda n, v: f"https://x.y/z?a=b&{n}={v}&c=d",
    "a URL's fragment": lambda n, v: f"https://x.y/z#{n}={v}&c=d",
    "a form within a query": lambda n, v: f"https://x.y/?next={quote(f'/login?{n}={v}&a=b', safe='')}",
    "JSON within a form": lambda n, v: f"payload={quote(json.dumps({n: v}), safe='')}&a=b",
    "JSON within an attribute": lambda n, v: f'<div data-page="{html.escape(json.dumps({n: v}))}">',
    "YAML": lambda n, v: f"a: b\n{n}: {v}\nc: d\n",
    "YAML with a quoted name": lambda n, v: f"a: b\n'{n}': {v}\nc: d\n",
    "a list item of YAML": lambda n, v: f"- {n}: {v}\n- a: b\n",
    "a block of YAML": lambda n, v: f"{n}: |\n  {v}\na: b\n",
    "the environment of a container": lambda n, v: f"env:\n  - name: {n}\n    value: {v}\n",
    "TOML": lambda n, v: f'a = 1\n{n} = "{v}"\n',
    "TOML in three quotes": lambda n, v: f'{n} = """{v}"""\n',
    "INI": lambda n, v: f"[a]\n{n}={v}\nb=c\n",
    "INI with spaces": lambda n, v: f"[a]\n{n} = {v}\nb = c\n",
    "an environment file": lambda n, v: f"A=b\nexport {n}='{v}'\n",
    "a Dockerfile": lambda n, v: f"FROM x\nENV MY_{n} {v}\nRUN y\n",
    "an element": lambda n, v: f"<a><{n}>{v}</{n}></a>",
    "an element with spaces": lambda n, v: f"<{n}>\n  {v}\n</{n}>",
    "an element with attributes": lambda n, v: f'<{n} type="text">{v}</{n}>',
    "an element of characters": lambda n, v: f"<{n}><![CDATA[{v}]]></{n}>",
    "a property list": lambda n, v: f"<dict><key>{n}</key><string>{v}</string></dict>",
    "a property": lambda n, v: f'<property name="{n}">{v}</property>',
    "a setting": lambda n, v: f'<add key="{n}" value="{v}"/>',
    "a field": lambda n, v: f'<input name="{n}" value="{v}">',
    "a field, value first": lambda n, v: f'<input type="hidden" value="{v}" id=x name="{n}" />',
    "a field in single quotes": lambda n, v: f"<input value='{v}'\n  name='{n}'>",
    "a field without quotes": lambda n, v: f"<INPUT VALUE={v} NAME={n}>",
    "a field's id": lambda n, v: f'<input id="{n}" class="a b" value="{v}">',
    "a text area": lambda n, v: f'<textarea rows=2 name="{n}">{v}</textarea>',
    "a meta tag": lambda n, v: f'<meta content="{v}" name="{n}">',
    "an attribute": lambda n, v: f'<user a="b" {n}="{v}"/>',
    "a part of a form": lambda n, v: (
        f'--b\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n--b--\r\n'
    ),
    "a part of a form, no quotes": lambda n, v: (
        f"--b\r\nContent-Disposition: form-data; name={n}\r\n\r\n{v}\r\n--b--\r\n"
    ),
    "a flag": lambda n, v: f"tool --{n} {v} --verbose",
    "a flag with an equals sign": lambda n, v: f"tool --{n}={v} --verbose",
    "a list of arguments": lambda n, v: json.dumps(["tool", f"--{n}", v, "--verbose"]),
    "a HAR header": lambda n, v: json.dumps([{"name": n, "value": v}]),
    "an object with the value first": lambda n, v: json.dumps({"value": v, "name": n}),
    "an object with others between": lambda n, v: json.dumps(
        {"name": n, "of": {"a": {}}, "type": "text", "value": v}
    ),
    "an object with the value first, and others": lambda n, v: json.dumps({"Value": v, "x": [1], "Key": n}),
    "what was typed": lambda n, v: json.dumps({"field": n, "text": v}),
    "an object of its own": lambda n, v: json.dumps({n: {"value": v}}),
    "a container's, value first": lambda n, v: f"env:\n  - value: {v}\n    name: {n}\n",
    "CSV": lambda n, v: f"user,{n},age\nann,{v},3\nbob,,4\n",
    "CSV in quotes": lambda n, v: f'"age","{n}"\r\n"3","{v}"\r\n',
    "CSV with semicolons": lambda n, v: f"{n};age\n{v};3",
    "columns with tabs": lambda n, v: f"user\t{n}\nann\t{v}\n",
    "a table of Markdown": lambda n, v: f"| user | {n} |\n|---|---|\n| ann | {v} |\n",
    "JavaScript": lambda n, v: f"const a = {{{n.replace('-', '_')}: `{v}`}};",
    "a call": lambda n, v: f"connect(user='a', {n}='{v}')",
    "a pair": lambda n, v: f"[('{n}', '{v}')]",
    "a connection string": lambda n, v: f"Server=x;User Id=sa;{n}={v};Database=y",
}


def unicode_escaped(name):
    return name[0] + "".join(f"\\u{ord(char):04x}" for char in name[1:3]) + name[3:]


def percent_escaped(name):
    return name[0] + "".join(f"%{ord(char):02x}" for char in name[1:3]) + name[3:]


ENCODINGS = {
    "UTF-8": str.encode,
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 little endian": lambda text: text.encode("utf-16-le"),
    "UTF-16 big endian": lambda text: text.encode("utf-16-be"),
    "UTF-16 with a mark": lambda text: text.encode("utf-16"),
    "UTF-32": lambda text: text.encode("utf-32"),
}


@pytest.fixture(scope="module")
def redactor():
    return Redactor(salt=SALT, environ={"SERVICE_TOKEN": KNOWN})


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_value_under_any_secret_name_leaves_as_text_and_within_an_event(redactor, syntax):
    for name in NAMES:
        text = SYNTAXES[syntax](name, SECRET)
        clean = redactor.raw(text.encode())
        assert SECRET.encode() not in clean, (name, clean)
        assert TOKEN.encode() in clean, (name, clean)
        assert redactor.raw(clean) == clean
        for _ in range(3):
            text = json.dumps({"value": text})
            clean = redactor.line(text.encode())
            assert SECRET.encode() not in clean, (name, clean)
            json.loads(clean)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_body_in_any_encoding_is_cleaned_and_stays_in_it(redactor, encoding):
    encode = ENCODINGS[encoding]
    for syntax in SYNTAXES.values():
        text = syntax("password", SECRET)
        assert redactor.raw(encode(text)) == encode(redactor.raw(text.encode()).decode())
    harmless = json.dumps({"content": "Nothing to hide here, grüße"}, ensure_ascii=False)
    data = encode(harmless)
    assert redactor.raw(data) is data


@pytest.mark.parametrize("syntax", ["JSON", "JSON in JSON", "a HAR header", "a list of arguments"])
def test_a_name_with_unicode_escapes_counts_in_json(redactor, syntax):
    for name in NAMES:
        text = SYNTAXES[syntax]("@@@", SECRET)
        clean = redactor.raw(text.replace("@@@", unicode_escaped(name)).encode())
        assert SECRET.encode() not in clean, (name, clean)
        json.loads(clean)


def test_a_number_under_an_escaped_name_becomes_a_string(redactor):
    clean = json.loads(redactor.line(b'{"\\u0070in": 123456, "%70in": 12}'))
    assert clean["pin"].startswith("[[secret:")
    assert clean["%70in"] == 12


@pytest.mark.parametrize(
    "syntax", ["a form", "a URL's query", "a URL's fragment", "a form within a query", "JSON within a form"]
)
def test_a_name_with_percent_escapes_counts_in_forms_and_addresses(redactor, syntax):
    for name in NAMES:
        for escape in (percent_escaped, lambda n: "".join(f"%{ord(c):02X}" for c in n)):
            text = (
                SYNTAXES[syntax]("@@@", SECRET)
                .replace("@@@", escape(name))
                .replace("%40%40%40", escape(name))
            )
            assert SECRET.encode() not in redactor.raw(text.encode()), (name, text)


@pytest.mark.parametrize(
    "command",
    [
        "curl -u me:{} https://x.y",
        "curl -ume:{} https://x.y",
        "curl -u 'me:{}' https://x.y",
        'curl --user "me:{}" https://x.y',
        "curl --user=me:{} https://x.y",
        "curl --proxy-user me:{} https://x.y",
        "curl -s \\\n  -u me:{} \\\n  https://x.y",
        "curl -H 'Authorization: {}' https://x.y",
        "curl -HAuthorization:{} https://x.y",
        'curl -H "X-Api-Key: {}" https://x.y',
        "curl -b 'sid={}' https://x.y",
        "curl --cookie sid={} https://x.y",
        "curl https://me:{}@x.y",
        "http -a me:{} https://x.y",
        "tool --user me:{}",
        "sshpass -p {} ssh me@host",
        "mysql -uroot -p{} db",
        "redis-cli -h x -a {} ping",
        "docker login -u me -p {} registry",
        "PGPASSWORD={} psql -h x",
        "machine host login me password {}",
        "ALTER USER me WITH PASSWORD '{}'",
        "CREATE USER me IDENTIFIED BY '{}'",
    ],
)
def test_the_secrets_of_commands_leave_as_a_line_and_as_a_list_of_arguments(redactor, command):
    line = command.format(SECRET)
    for text in (line, json.dumps({"cmd": line}), json.dumps({"a": json.dumps({"cmd": line})})):
        assert SECRET.encode() not in redactor.raw(text.encode())
    if line.startswith(("curl", "sshpass", "mysql", "redis")) and "'" not in line and '"' not in line:
        arguments = line.replace("\\\n", "").split()
        for text in (json.dumps(arguments), json.dumps(arguments, indent=1), repr(arguments)):
            assert SECRET.encode() not in redactor.raw(text.encode()), text


@pytest.mark.parametrize("before", ["", "a", "ab", "user:", "some text before "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode, bytes.hex])
def test_base64_and_hexadecimal_of_a_known_value_leave(redactor, before, encode):
    packed = encode(f"{before}{KNOWN} and more".encode())
    packed = packed.decode() if isinstance(packed, bytes) else packed
    for text in (
        f"see {packed} there",
        json.dumps({"Authorization": f"Basic {packed}"}),
        json.dumps({"x": packed}),
    ):
        clean = redactor.raw(text.encode()).decode()
        assert packed[-30:-16] not in clean
        assert "[[secret:" in clean


def test_the_values_in_a_list_of_cookies_leave_and_all_else_stays(redactor):
    cookies = [
        {"name": "sid", "value": SECRET, "domain": "x.y", "httpOnly": True},
        {"name": "a", "value": "b"},
    ]
    clean = json.loads(redactor.line(json.dumps({"cookies": cookies, "value": SECRET}).encode()))
    assert clean["cookies"][0] == {**cookies[0], "value": TOKEN}
    assert clean["cookies"][1] == cookies[1]


@pytest.mark.parametrize(
    "text",
    [
        "password = input()",
        "password = getpass('Password: ')\nlogin(user, password)\n",
        "def f(password: str, token: str | None = None) -> None:\n    self.password = password\n",
        "class User(Model):\n    password = CharField(max_length=128)\n",
        "cfg = {\n  'password': settings.password,\n  \"api_key\": key\n}",
        "if (password === confirmPassword) { return; }",
        "const token = `${a}-${b}`;",
        "SELECT password FROM users WHERE password IS NOT NULL",
        "The password 'must' be long; \"password\" is a word, and so is 'token'.",
        'required: ["password", "confirm_password"]',
        "password:\n  type: string\n  description: The password\n",
        "- name: password\n  value: string\n",
        '<label for="password">Password</label><input type="password" name="password" id="password">',
        '<a id="password">Reset your password</a> <div class="password">Forgotten?</div>',
        "<input type=text name=q value=hello> <p>password</p> and the rest",
        '<property name="password" value="${db.password}"/><key>password</key><true/>',
        '<meta name="description" content="All about passwords">',
        "docker run -u 1000:1000 --user node:node img",
        "git push -u origin HEAD:main",
        "sudo -u postgres psql; mkdir -p /tmp/x; cp -p a b; ssh -p 22 host; ls -a x:y",
        "curl -u $USER:$PASS --user-agent Mozilla/5.0:x -b cookies.txt https://x.y:8080/z",
        "mysql -u root -p db; redis-cli -a; python -u a.py",
        "machine learning login password reset",
        "--password-file /run/secrets/db and -password protected archives",
        "auth:basic session:new secret:label arn:aws:secretsmanager:us:1:secret:prod/db-main-1",
        "see https://x.y/?a=b%20c%2Fd&e=%C3%BC, it is 100%25 sure",
        "&quot;hello&quot; &#39;x&#39; &amp; \\u00fc \\u0026 \\u003c",
        'Password: ********\npassword: <yours>\npassword: {{ vault }}\npassword = """"""\n',
    ],
)
def test_prose_and_program_text_stay(redactor, text):
    for depth in range(3):
        data = (
            text.encode()
            if not depth
            else json.dumps({"text": text if depth == 1 else json.dumps(text)}).encode()
        )
        assert redactor.raw(data) is data
        assert not depth or redactor.line(data) is data


FILES = {
    "a line of .pgpass": "db.example.com:5432:shop:ann:@@@\n",
    "a line of .pgpass for all": "*:*:*:ann:@@@\n",
    "a URL of JDBC": "jdbc:postgresql://h:5432/shop?user=ann&password=@@@&ssl=true",
    "a URL of JDBC with semicolons": "jdbc:sqlserver://h:1433;databaseName=d;user=ann;password=@@@;encrypt=true",
    "a URL of JDBC with brackets": "jdbc:mysql://(host=h,port=1,user=ann,password=@@@)/db",
    "a URL of JDBC for Oracle": "jdbc:oracle:thin:ann/@@@@//h:1521/x",
    "a connection string of ODBC": "Driver={SQL Server};Server=x;UID=sa;PWD={@@@};",
    "a connection string of ADO": "Server=x;User ID=sa;Password='@@@';",
    "a connection string of libpq": "host=x user=ann password='@@@' dbname=y",
    "a connection string of Azure": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@@;EndpointSuffix=y",
    "a connection string of a service bus": "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=@@@",
    "a file of netrc": "machine api.x.y\n  login ann\n  password @@@\n",
    "a line of netrc": "default login ann password @@@\n",
    "the configuration of Docker": '{"auths": {"r.io": {"auth": "@@@", "identitytoken": "@@@"}}}',
    "a kubeconfig": "users:\n- name: x\n  user:\n    client-key-data: @@@\n    token: @@@\n",
    "credentials of AWS": "[default]\naws_secret_access_key = @@@\naws_session_token = @@@\n",
    "the configuration of npm": "//registry.npmjs.org/:_authToken=@@@\n",
    "a cookie file": ".x.y\tTRUE\t/\tTRUE\t0\tsid\t@@@\n",
    "curl": "curl -sS -u ann:@@@ https://x.y",
    "openssl": "openssl rsa -passin pass:@@@ -in x",
    "keytool": "keytool -list -storepass @@@",
    "a variable of Terraform": 'variable "db_password" {\n  type = string\n  default = "@@@"\n}\n',
    "an address with a password": "redis://:@@@@h:6379/0",
    "an address with a token": "https://@@@@github.com/a/b.git",
}


@pytest.mark.parametrize("file", FILES)
def test_a_password_leaves_the_files_that_programs_keep_it_in(redactor, file):
    text = (
        FILES[file].replace("@@@", SECRET, -1)
        if "@@@@" not in FILES[file]
        else FILES[file].replace("@@@", SECRET, 1)
    )
    for _ in range(3):
        clean = redactor.raw(text.encode())
        assert SECRET.encode() not in clean, clean
        assert redactor.raw(clean) == clean
        text = json.dumps({"content": text})
        assert SECRET.encode() not in redactor.line(text.encode())


@pytest.mark.parametrize("size", [1, 3, 64])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_stream_in_a_wide_encoding_is_cleaned_as_the_whole_body_is(redactor, encoding, size):
    for text in (json.dumps({"a": "grüße", "password": SECRET, "b": 1}), f"a=b&password={SECRET}", "ab"):
        data = text.encode(encoding)
        stream = redactor.stream()
        parts = [stream.chunk(data[at : at + size]) for at in range(0, len(data), size)]
        assert b"".join([*parts, stream.end()]) == redactor.raw(data)
        assert not stream.pending


def test_bytes_that_are_no_wide_text_pass_a_stream_unchanged(redactor):
    for data in (
        b"\xff\xfe",
        b"\0" * 5,
        b"\xff\xfea\0\0\xd8b\0" * 20,
        b"a\0b\0c\0d\0\0\xdc\0\xdce",
        bytes(range(256)) * 3,
    ):
        for size in (1, 7, 500):
            stream = redactor.stream()
            parts = [stream.chunk(data[at : at + size]) for at in range(0, len(data), size)]
            assert b"".join([*parts, stream.end()]) == data


def test_tables_and_neighbours_that_hold_no_secret_stay(redactor):
    for text in (
        "name,password,age\n",
        "name,password\nann,\nbob,none\n",
        "Enter your name, password, and age.\nThen press enter.\n",
        "| parameter | token |\n|---|---|\n| max | auto |\n",
        '{"role": "tool", "name": "reset_password", "content": "It was reset for you"}',
        '{"name": "get_api_key", "text": "Returns the key of the account"}',
        "localhost:5432:up\n",
        "https://someone@example.com/x and https://ann.example.person1@host/",
    ):
        assert redactor.raw(text.encode()) == text.encode()
