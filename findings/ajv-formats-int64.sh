#!/usr/bin/env bash
# ajv-formats 3.0.1 with ajv 8.17.1: OpenAPI's format int64 has no bounds, and that of int32 has.
# Guess beforehand: an integer beyond 2^63 - 1 is refused for int64, as one beyond 2^31 - 1 is for int32.
# Seen: int32 refuses 2^31. int64 takes 2^63, 2^64 and 1e30.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund ajv@8.17.1 ajv-formats@3.0.1
cat > show.cjs <<'JS'
const Ajv = require('ajv').default;
const ajv = require('ajv-formats').default(new Ajv());
for (const [format, value] of [['int32', 2 ** 31], ['int64', 2 ** 63], ['int64', 2 ** 64], ['int64', 1e30]]) {
  console.log(`${format} ${value}: ${ajv.validate({ type: 'integer', format }, value) ? 'valid' : 'refused'}`);
}
JS
node show.cjs | tee seen
[[ $(grep -c '^int32 .*refused' seen) == 1 && $(grep -c '^int64 .*valid' seen) == 3 ]]
