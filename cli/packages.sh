# SPDX-License-Identifier: Apache-2.0
# Sourced by cli/quickstart and tests/run: what must be installed, and installing it.

build_packages=(g++ make cmake ninja-build libcli11-dev nlohmann-json3-dev libtomlplusplus-dev zlib1g-dev
  libeigen3-dev libssl-dev)
test_packages=(doctest-dev libbenchmark-dev clang-format python3 python3-jsonschema git)

say() { printf '\n== %s\n' "$*"; }

package_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# On another system we cannot name its packages; the compiler and CMake are what we can look for.
require_tools() {
  local tool missing=()
  for tool in c++ cmake ninja; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  echo "This is not a Debian or Ubuntu system. Needed here under their Debian names: $*"
  if [ ${#missing[@]} -gt 0 ]; then
    echo "Not found: ${missing[*]}. Install these and run this again." >&2
    exit 3
  fi
}

ensure_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    require_tools "$@"
    return
  fi
  local package missing=() as_root=()
  for package in "$@"; do
    package_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are there: $*"
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "As root, install: ${missing[*]}" >&2
      exit 3
    fi
    as_root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"; } </dev/null; then
    echo "Could not install ${missing[*]}; going on, in case they are there by other means." >&2
  fi
}
