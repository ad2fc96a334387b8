#!/usr/bin/env bash
# TypeScript 7.0.2, `tsc --watch`, on Linux: a project in a folder directly below a folder of the root, such as /tmp/app or
# /srv/app, is compiled once and then never again, although it prints "Watching for file changes." The same project one
# folder deeper is compiled after each change.
# Guess beforehand: only a change during the first build is missed, and the next change is noticed, wherever the project is.
# Seen: /tmp/<name>: 0 recompilations after two changes. /tmp/<name>/deeper: 2.
# Fails if this changes.
set -euo pipefail
tools=$(mktemp -d)
short=$(mktemp -d /tmp/short-XXXXXX)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tools" "$short"' EXIT
npm install --silent --prefix "$tools" typescript@7.0.2

# Prints how many changes the compiler noticed of two.
noticed() {
  mkdir -p "$1/src"
  echo '{"compilerOptions":{"outDir":"out","types":[]},"include":["src"]}' > "$1/tsconfig.json"
  echo 'export const one = 1;' > "$1/src/one.ts"
  (cd "$1" && exec "$tools/node_modules/.bin/tsc" --watch --preserveWatchOutput > "$1/log" 2>&1) &
  for _ in $(seq 100); do grep -q 'Watching for' "$1/log" 2>/dev/null && break; sleep 0.2; done
  for number in 2 3; do
    sleep 3
    echo "export const n$number = $number;" >> "$1/src/one.ts"
  done
  sleep 4
  grep -c 'File change detected' "$1/log" || true
}

mkdir "$short/deeper"
deeper=$(noticed "$short/deeper")
directly=$(noticed "$short")
echo "typescript $("$tools/node_modules/.bin/tsc" --version): noticed in $short: $directly of 2, in $short/deeper: $deeper of 2"
[[ $directly == 0 && $deeper == 2 ]]
