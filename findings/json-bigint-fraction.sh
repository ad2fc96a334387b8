#!/usr/bin/env bash
# json-bigint 1.0.0 with `useNativeBigInt`, which clients use to read int64 ids exactly: a document that also has a fraction
# of more than 15 characters, such as a coordinate, can't be parsed.
# Guess beforehand: integers beyond 2^53 become a BigInt, and every fraction a number, as JSON.parse reads it.
# Seen: 9007199254740993 is a BigInt, 8.681495492341 a number; one with 16 characters throws
# "Cannot convert 8.68149549234105 to a BigInt", and the rest of the document is lost.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-bigint@1.0.0
cat > show.cjs <<'JS'
const { parse } = require('json-bigint')({ useNativeBigInt: true });
for (const number of ['9007199254740993', '8.681495492341', '8.68149549234105', '0.1000000000000000055']) {
  let read;
  try {
    const { value } = parse(`{"value":${number}}`);
    read = `${typeof value} ${value}`;
  } catch (error) {
    read = error.message;
  }
  console.log(`${number}: ${read}`);
}
JS
node show.cjs | tee seen
[[ $(grep -c 'Cannot convert .* to a BigInt' seen) == 2 && $(grep -c 'bigint 9007199254740993\|number 8.681495492341$' seen) == 2 ]]
