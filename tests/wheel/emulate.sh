#!/usr/bin/env bash
# Let this system start programs of Debian's architecture $1 through qemu, also below another root.
set -euo pipefail
declare -A machines=([amd64]=x86_64 [arm64]=aarch64 [riscv64]=riscv64)
machine=${machines[$1]:?"there is no emulation of $1"}
command -v "qemu-$machine-static" >/dev/null || {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends qemu-user-static binfmt-support >/dev/null
}
formats=/proc/sys/fs/binfmt_misc
[ -e "$formats/register" ] || mount -t binfmt_misc binfmt_misc "$formats"
[ -e "$formats/qemu-$machine" ] || update-binfmts --enable "qemu-$machine"
grep -q "^flags:.*F" "$formats/qemu-$machine" || { echo "the kernel does not start programs for $machine" >&2; exit 2; }
