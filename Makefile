# All set-up starts from python3 (3.11 or newer), make and a C compiler. What is installed is pinned in constraints.txt.
#
#   make demo     a real agent with a real model: recorded, replayed, diverging
#   make demo-browser  a browser agent with a real model: recorded, replayed without both, written as a script
#   make exercise a recorded run is debugged, mended, forked, and kept as a test
#   make pictures  all pictures of README and docs, drawn from what really runs
#   make console-pictures  the pictures with which the tests compare the console's pages
#   make test     the test suite
#   make test-thorough  the long matrices, and the second to last program of a file, which the test suite leaves out
#   make soak     the slow suites and the long matrices: thousands of recordings, hundreds of kills
#   make faults   a team's store whose Postgres, S3, server and disks fail in the middle, and its upgrade with a million events
#   make load     200 agents record into one server for ten minutes, which is killed three times
#   make frameworks      docs/frameworks.md: every framework's program recorded, replayed, forked
#   make frameworks-older  the same with the frameworks' versions of half a year ago
#   make frameworks-browser-use  the same of browser-use, in both versions
#   make docs     the site of the documentation, in site/; its links are checked
#   make console  the console's pages, built into the package (needs npm)
#   make check    style, types, layers
#   make check-platforms  the pinned dependencies can be resolved for every platform
#   make test-portable  the ways of systems without fork, Unix sockets and signals, forced on this one
#   make test-windows   commands and tests of the core in a Windows Python under Wine
#   make sbom     what `pip install 'reenact[all]'` brings, with versions, as CycloneDX
#   make dist     the wheel and the source distribution, the same bytes each time
#   make test-wheel  the wheel in empty environments: the core alone, and with the server
#   make test-fresh  the wheel on a Debian of its own with Python alone: no compiler, no network (needs root;
#                     FRESH_ARCH=arm64: on an emulated processor)
#   make test-browser-use   the adapter of browser-use, with a real browser, in environments of its own
#   make test-ray    a fleet of replays on a Ray cluster of several nodes, all on this machine
#   make bench    figures side by side with peers, written to benchmarks/RESULTS.md
#   make bench-healing   scripts on changed pages, written to benchmarks/HEALING.md
#   make audit    asks the package index's advisory service about the pinned dependencies; needs the network
#   make clean    removes the environment and everything made here

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest
PYTEST_ARGS ?=
BENCH := .venv-bench
OLDER := .venv-older
OLDER_DAY := 2026-05-21
BENCH_ARGS ?=
BROWSER_USE := .venv-browser-use
SITE := .venv-docs
BROWSER_USE_OLDER := .venv-browser-use-older
# The extras beside frameworks that pin the libraries of browser sessions and of MCP themselves.
WITHOUT_BROWSERS := analysis,cassettes,otel,proxy,server,sign,speed,tui
DIST := dist
SPACE := $(subst ,, )
PORTABLE_TESTS ?= tests/core/test_system.py tests/run/files/test_scratch.py
# The console's sources, and what its types are made from.
CONSOLE := $(shell find console -name node_modules -prune -o -name 'openapi.*' -o -name schema.ts -o -name '.api' -o -name '.stamp' -o -type f -print) \
	src/reenact/analysis/pages/tokens.css src/reenact/browser/watch/moment.js src/reenact/browser/watch/moment.css
API := $(shell find src/reenact/server src/reenact/verbs -name '*.py')

# Compiling while installing uses all cores; the first start of each program would use one.
export UV_COMPILE_BYTECODE := 1
# Some machines keep the cache on another disk: copying always works, and without a warning.
export UV_LINK_MODE := copy
# The suites start many hundreds of Pythons: without stored bytecode each of them would compile all anew.
unexport PYTHONDONTWRITEBYTECODE

INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python \
	--constraints constraints.txt --build-constraints constraints.txt

.DEFAULT_GOAL := help
.PHONY: help audit check-style check-linux check-win32 check-darwin demo demo-browser exercise pictures console-pictures test test-thorough test-browser-use test-ray soak faults load frameworks frameworks-older \
	frameworks-browser-use check format bench bench-healing constraints constraints-older clean pages setup-demo setup-dev \
	setup-bench setup-older setup-browser-use chromium console dist docs test-wheel \
	check-platforms test-portable test-windows test-fresh sbom

help:
	@sed -n 's/^#   //p' Makefile

demo: setup-demo
	@$(BIN)/python examples/order_agent/demo.py

demo-browser: setup-dev chromium
	@$(BIN)/python examples/browser_agent/show.py

exercise: setup-dev
	@$(BIN)/python examples/exercise/exercise.py

pictures: setup-demo setup-dev $(BROWSER_USE)/.stamp chromium
	@FORCE_COLOR=1 PYTHONPATH=. $(BIN)/python examples/order_agent/picture.py
	@$(BIN)/python examples/lamp_shop/draw.py
	@$(BIN)/python -m tests.console.picture
	@$(BIN)/python -m tests.docs.scenes

console-pictures: setup-dev chromium console
	@$(BIN)/python -m tests.console.pictures

# Tests that stand together share servers and browsers: each worker takes a part, and from the end of another's when it is done.
# Three workers for two processors: tests wait for programs and browsers.
# Plain tracebacks: to show the source of a failing test, pytest parses it, which in Python 3.11 may fail where another
# thread parses too, and then the whole run ends.
test: setup-dev chromium pages
	$(PYTEST) -m "not slow and not thorough" -n 3 --dist worksteal --tb=native $(PYTEST_ARGS)

# What `make test` leaves out, but for the slow suites: 3,900 tests, an hour on two processors.
test-thorough: setup-dev chromium pages
	$(PYTEST) -m "thorough and not slow" -n 3 --dist worksteal --tb=native $(PYTEST_ARGS)

# Half a minute to set up and one to run, in each version: too much for every change, so it is a target of its own.
test-browser-use: setup-browser-use chromium
	$(BROWSER_USE)/bin/pytest tests/adapters/browser_use tests/frameworks -k browser_use $(PYTEST_ARGS)
	$(BROWSER_USE_OLDER)/bin/pytest tests/adapters/browser_use tests/frameworks -k browser_use $(PYTEST_ARGS)

# Ray is large, and a cluster of several nodes takes half a minute to start on two cores.
test-ray: setup-dev
	$(INSTALL) --editable '.[ray]'
	REENACT_RAY=1 $(BIN)/python -m tests.verbs.verify.apart $(PYTEST) -n 0 tests/verbs/verify/test_cluster.py $(PYTEST_ARGS)

soak: setup-dev
	$(PYTEST) -m "slow or thorough" $(PYTEST_ARGS)
	REENACT_RESULTS=1 $(PYTEST) -q tests/core/record/test_canaries.py
	$(MAKE) frameworks-older

# Small disks are mounted where it runs as root; elsewhere those tests are skipped, and say so.
faults: setup-dev
	$(PYTEST) tests/team -n 0 $(PYTEST_ARGS)

load: setup-dev
	$(PYTEST) tests/soak/test_load.py -n 0 $(PYTEST_ARGS)

frameworks: setup-dev
	REENACT_RESULTS=1 $(PYTEST) -q -n 2 tests/frameworks/test_frameworks.py

frameworks-older: setup-older
	REENACT_RESULTS=1 $(OLDER)/bin/pytest -q -n 2 tests/frameworks/test_frameworks.py
	$(OLDER)/bin/pytest -q -n 2 tests/adapters/mcp

frameworks-browser-use: setup-browser-use chromium
	REENACT_RESULTS=1 $(BROWSER_USE)/bin/pytest -q tests/frameworks/test_frameworks.py -k browser_use
	REENACT_RESULTS=1 $(BROWSER_USE_OLDER)/bin/pytest -q tests/frameworks/test_frameworks.py -k browser_use

# The types of each platform are checked at the same time: mypy uses one processor.
check: setup-dev
	@$(MAKE) --no-print-directory --keep-going --output-sync --jobs 3 check-style check-linux check-win32

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@if [ -d console/node_modules ]; then npm --prefix console run --silent check; fi

check-linux:
	$(BIN)/mypy

# The modules of openai are a third of all that mypy reads, and the same on all systems: `make check-linux` reads them.
check-win32 check-darwin: check-%:
	@mkdir -p .mypy_cache/$*
	@{ cat pyproject.toml; printf '\n[[tool.mypy.overrides]]\nmodule = ["openai.*"]\nfollow_imports = "skip"\n'; } \
		>.mypy_cache/$*/pyproject.toml
	$(BIN)/mypy --config-file .mypy_cache/$*/pyproject.toml --platform $* --cache-dir .mypy_cache/$* src

# A link, an anchor or a page that is missing ends the build.
docs: setup-dev $(SITE)/.stamp
	$(BIN)/python docs/site/generate.py build/docs
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet
	@rm -rf build/docs

# The oldest and the newest Python on each system: a pin without a wheel for one of them fails here. Intel Macs have
# wheels for the core alone. musl has none of google-re2, which is built there, and none of Playwright.
ON_MUSL := analysis cassettes mcp otel proxy server ship sign speed team tui
check-platforms: $(BIN)/uv
	@resolve() { for python in 3.11 3.14; do \
		MACOSX_DEPLOYMENT_TARGET=14.0 $(BIN)/uv pip compile --quiet --no-header --no-annotate --python-version $$python \
			--constraints constraints.txt --python-platform "$$@" pyproject.toml >/dev/null \
		|| { echo "the pinned packages cannot be installed on $$1, Python $$python" >&2; return 2; }; \
	done; }; \
	for system in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-msvc aarch64-apple-darwin; do \
		resolve $$system --only-binary :all: --extra all || exit 2; done; \
	resolve x86_64-apple-darwin --only-binary :all: || exit 2; \
	for system in x86_64-unknown-linux-musl aarch64-unknown-linux-musl; do \
		resolve $$system --only-binary :all: --no-binary google-re2 $(addprefix --extra ,$(ON_MUSL)) || exit 2; done; \
	echo "the pinned packages can be installed on 7 platforms"

# Short: the parts that have a second way. `PORTABLE_TESTS=tests/run` runs others.
test-portable: setup-dev
	REENACT_PORTABLE=1 $(PYTEST) -m "not slow and not thorough" -n 2 $(PORTABLE_TESTS) $(PYTEST_ARGS)

# Wine and a compiler are installed through apt where they are missing. `WINDOWS_TESTS=tests/core/query` runs others.
WINDOWS_TESTS ?= $(addprefix tests/core/,align boundary config files messages model redact store/test_received_sums.py \
	store/test_shared.py test_system.py)
test-windows: setup-dev
	tests/windows/python.sh .windows
	REENACT_WINDOWS_PYTHON=$(CURDIR)/.windows/python $(PYTEST) -n 0 tests/windows $(PYTEST_ARGS)
	.windows/python -m pytest -n 0 -p no:cacheprovider -m "not slow and not thorough" $(WINDOWS_TESTS)

sbom: $(BIN)/uv
	@mkdir -p $(DIST)
	@$(BIN)/uv pip compile --quiet --no-header --no-annotate --extra all --constraints constraints.txt pyproject.toml \
		| $(BIN)/uvx --quiet --from cyclonedx-bom cyclonedx-py requirements --output-reproducible \
		--of JSON --output-file $(DIST)/sbom.cdx.json -
	@ls -l $(DIST)/sbom.cdx.json

# Apart from the environment that is audited. Where the service does not answer this fails, and nothing else rests on it.
audit: $(BIN)/uv
	grep -v '^-' constraints.txt | $(BIN)/uvx --quiet pip-audit --disable-pip --no-deps --progress-spinner off \
		--requirement /dev/stdin

format: setup-dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup-bench setup-dev chromium
	$(BENCH)/bin/python -m benchmarks $(BENCH_ARGS)

bench-healing: setup-dev chromium pages
	$(BIN)/python -m benchmarks --only healing $(BENCH_ARGS)

# Pins for every group at once. A plain list of versions on purpose: lock files embed download addresses.
constraints: $(BIN)/uv
	printf '%s\n' uv hatchling editables | $(BIN)/uv pip compile --quiet --universal --upgrade --no-annotate \
		--no-header --extra all --group dev --group test-adapters --group test-browser \
		--group test-server --group test-store --group demo --group bench --group docs \
		--output-file constraints.txt pyproject.toml -
	$(BIN)/uv pip compile --quiet --upgrade --no-annotate --no-header --python-platform linux --extra analysis --extra cassettes --extra otel --extra proxy \
		--extra server --extra sign --extra speed --extra tui --group browser-use \
		--output-file constraints-browser-use.txt pyproject.toml

# The frameworks as they were on that day, and all else too but what Reenact needs newer.
constraints-older: $(BIN)/uv
	printf '%s\n' uv hatchling editables | $(BIN)/uv pip compile --quiet --universal --upgrade --no-annotate \
		--no-header --exclude-newer $(OLDER_DAY) --exclude-newer-package time-machine=2026-11-01 \
		--extra analysis --extra cassettes --extra otel --extra proxy --extra server --extra sign --extra speed \
		--extra tui --group frameworks --output-file constraints-older.txt pyproject.toml -
	printf '%s\n' browser-use pytest pytest-asyncio pytest-timeout uv hatchling editables | $(BIN)/uv pip compile --quiet \
		--upgrade --no-annotate --no-header --python-platform linux --exclude-newer $(OLDER_DAY) \
		--exclude-newer-package time-machine=2026-11-01 --extra analysis --extra cassettes --extra otel \
		--extra proxy --extra server --extra sign --extra speed --extra tui \
		--output-file constraints-browser-use-older.txt pyproject.toml -

# A stamp for each set of packages: nothing is asked of the registry again until what is pinned changes.

setup-demo: $(VENV)/.demo
	@$(MAKE) --no-print-directory console
setup-dev: $(VENV)/.dev
	@$(MAKE) --no-print-directory console
setup-bench: $(BENCH)/.stamp
setup-older: $(OLDER)/.stamp
setup-browser-use: $(BROWSER_USE)/.stamp $(BROWSER_USE_OLDER)/.stamp

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv

$(VENV)/.demo: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all]' --group demo
	@touch $@

# Packages of which the tests import nothing or little: 40 % of all that is installed, compiled where it is imported.
UNCOMPILED := phonenumbers litellm faker django mypy mypyc posthog huggingface_hub
$(VENV)/.dev: export UV_COMPILE_BYTECODE := 0
$(VENV)/.dev: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all]' --group dev --group test-adapters --group test-browser \
		--group test-server --group test-store --group demo
	@# Its pages alone: what it asks for besides is a second browser driver.
	$(INSTALL) --no-deps miniwob==1.1.0
	@# Templates and programs of other Pythons that packages bring cannot be compiled.
	@$(BIN)/python -m compileall -qq -j 0 -x '/site-packages/($(subst $(SPACE),|,$(UNCOMPILED)))/' $(CURDIR)/$(VENV)/lib || :
	@# All that the demo needs is in it, too.
	@touch $@ $(VENV)/.demo

# Apart from all else: the peers patch the same libraries, and their requirements are not ours.
$(BENCH)/.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(BENCH)
	$(BIN)/uv pip install --quiet --python $(BENCH)/bin/python --constraints constraints.txt \
		--build-constraints constraints.txt --editable '.[all]' --group bench
	@touch $@

$(OLDER)/.stamp: $(BIN)/uv pyproject.toml constraints-older.txt
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(OLDER)
	$(BIN)/uv pip install --quiet --python $(OLDER)/bin/python --constraints constraints-older.txt \
		--build-constraints constraints-older.txt --editable '.[$(WITHOUT_BROWSERS)]' --group frameworks
	@touch $@

$(SITE)/.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(SITE)
	$(BIN)/uv pip install --quiet --python $(SITE)/bin/python --constraints constraints.txt --group docs
	@touch $@

# Apart from all else: browser-use pins the exact versions of libraries that the other adapters are tested with in newer
# ones.
$(BROWSER_USE)/.stamp: $(BIN)/uv pyproject.toml constraints-browser-use.txt
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(BROWSER_USE)
	$(BIN)/uv pip install --quiet --python $(BROWSER_USE)/bin/python --constraints constraints-browser-use.txt \
		--build-constraints constraints.txt --editable '.[$(WITHOUT_BROWSERS)]' --group browser-use
	@touch $@

# The group wants a newer one.
$(BROWSER_USE_OLDER)/.stamp: $(BIN)/uv pyproject.toml constraints-browser-use-older.txt
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(BROWSER_USE_OLDER)
	$(BIN)/uv pip install --quiet --python $(BROWSER_USE_OLDER)/bin/python --constraints \
		constraints-browser-use-older.txt --build-constraints constraints-browser-use-older.txt --editable '.[$(WITHOUT_BROWSERS)]' \
		browser-use pytest pytest-asyncio pytest-timeout
	@touch $@

# The console's pages: what is installed from the package has them, and needs no npm. Its types are made from the
# server's own document of the API, so that a route and a page that asks it cannot part unseen.
console: console/.stamp ; @:

console/.stamp: console/node_modules/.stamp console/openapi.json $(CONSOLE)
	@if command -v npm >/dev/null; then \
		npm --prefix console run --silent types >/dev/null && npm --prefix console run --silent check && \
		npm --prefix console run --silent build -- --logLevel warn; \
	else echo "no npm here: the console's pages are not built, and reenact console says so" >&2; fi
	@touch $@

console/node_modules/.stamp: console/package-lock.json
	@mkdir -p console/node_modules
	@if command -v npm >/dev/null; then npm --prefix console ci --silent --no-audit --no-fund; fi
	@touch $@

# The document changes where a route does, not where its code does: the pages are built anew for the former alone.
console/openapi.json: console/.api ;

console/.api: $(API) | $(or $(firstword $(wildcard $(VENV)/.dev $(VENV)/.demo)),$(VENV)/.demo)
	@$(BIN)/python -m reenact.server.openapi >console/openapi.new
	@if cmp -s console/openapi.new console/openapi.json; then rm console/openapi.new; \
	else mv console/openapi.new console/openapi.json; fi
	@touch $@

# Built twice: a file that differs would mean that it cannot be checked against its sources.
dist: console $(BIN)/uv
	@[ -f src/reenact/server/console/index.html ] || { \
		echo "make dist: the console's pages are missing from src/reenact/server/console: install npm, then make console" >&2; exit 2; }
	@rm -rf $(DIST) $(DIST).again
	@for out in $(DIST) $(DIST).again; do \
		SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)} \
		$(BIN)/uv build --quiet --build-constraints constraints.txt --out-dir $$out . || exit 2; done
	@for file in $(DIST)/*.whl $(DIST)/*.tar.gz; do cmp $$file $(DIST).again/$${file##*/} || exit 2; done
	@rm -rf $(DIST).again
	@ls -l $(DIST)

# What a user gets, into environments of its own: nothing of this folder is imported.
test-wheel: dist setup-dev chromium
	REENACT_WHEEL=$$(ls $(CURDIR)/$(DIST)/*.whl) $(PYTEST) -n 2 tests/wheel $(PYTEST_ARGS)

# A Debian in a folder. It stays there for the next time. `FRESH_ARCH=arm64` makes one whose programs qemu runs: it takes
# a quarter of an hour, and each command there fifty times as long.
HERE_ARCH := $(or $(shell dpkg --print-architecture 2>/dev/null),amd64)
FRESH_ARCH ?= $(HERE_ARCH)
FRESH := .fresh/$(FRESH_ARCH)
test-fresh: dist setup-dev $(FRESH).stamp
	REENACT_FRESH=$(CURDIR)/$(FRESH) REENACT_WHEEL=$$(ls $(CURDIR)/$(DIST)/*.whl) $(PYTEST) -n 0 tests/wheel/test_fresh.py $(PYTEST_ARGS)

$(FRESH).stamp:
	@[ "$$(id -u)" = 0 ] || { echo "a system in a folder is made by root alone" >&2; exit 2; }
	@command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap >/dev/null; }
	@[ $(FRESH_ARCH) = $(HERE_ARCH) ] || tests/wheel/emulate.sh $(FRESH_ARCH)
	@rm -rf $(FRESH) && mkdir -p .fresh
	@debootstrap --arch=$(FRESH_ARCH) --variant=minbase --include=python3,python3-venv,ca-certificates stable $(FRESH) >.fresh.log 2>&1 \
		|| { tail -n 3 .fresh.log >&2; exit 2; }
	@rm .fresh.log && touch $@

# The browser itself comes from the system: $$CHROME, or one on the path, or Debian's where one may install it.
# Tests that look at pages alone take its headless shell where that is installed: it takes a quarter less of a processor.
INSTALL_SHELL := apt-get install -y -qq --no-install-recommends --no-remove chromium-headless-shell
chromium:
	@if [ -n "$$CHROME" ] || command -v chromium >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	else echo "no Chromium here: install one (apt-get install chromium, as root), or name one in CHROME" >&2; exit 2; fi
	@if [ -n "$$CHROME" ] || command -v chromium-headless-shell >/dev/null || [ "$$(id -u)" != 0 ]; then :; \
	elif command -v apt-get >/dev/null; then \
		ls /var/lib/apt/lists/*Packages* || apt-get update -qq; $(INSTALL_SHELL) || :; fi >/dev/null 2>&1
	@if command -v bwrap >/dev/null || [ "$$(uname)" != Linux ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& { apt-get install -y -qq --no-install-recommends bubblewrap \
			|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap; }; } >/dev/null 2>&1; then :; \
	else echo "no bubblewrap here: hosted browsers have less between them, and some tests are skipped" >&2; fi

# Pages that nobody here wrote, for the tests of browser sessions. Without npm those tests are skipped, and say so.
pages: .pages/.stamp

.pages/.stamp: Makefile
	@mkdir -p .pages
	@if command -v npm >/dev/null; then \
		npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix .pages todomvc@0.1.1; \
	else echo "no npm here: the tests on TodoMVC will be skipped" >&2; fi
	@touch $@

clean:
	rm -rf site .windows .fresh $(SITE) .pages console/node_modules console/.stamp console/.api console/openapi.json src/reenact/server/console $(VENV) $(BENCH) $(OLDER) $(BROWSER_USE) $(BROWSER_USE_OLDER) .mypy_cache .ruff_cache .pytest_cache \
		.import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
