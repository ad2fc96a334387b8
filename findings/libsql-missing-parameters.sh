#!/usr/bin/env bash
# libsql 0.5.29, the synchronous driver for Node with the API of better-sqlite3: the number of values isn't checked.
# Guess beforehand: too few or too many values throw, as in better-sqlite3.
# Seen: a parameter without a value, by position or by name, is NULL, and a value too many is ignored.
# better-sqlite3 12.4.6 throws in all three.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund libsql@0.5.29 better-sqlite3@12.4.6
cat > show.cjs <<'JS'
for (const name of ['libsql', 'better-sqlite3']) {
  const db = new (require(name))(':memory:');
  const cases = {
    'too few': () => db.prepare('SELECT ? AS a, ? AS b').get(1),
    'too few by name': () => db.prepare('SELECT :a AS a, :b AS b').get({ a: 1 }),
    'too many': () => db.prepare('SELECT ? AS a, 2 AS b').get(1, 2),
  };
  for (const [what, read] of Object.entries(cases)) {
    let seen;
    try {
      const { a, b } = read();
      seen = `a = ${a}, b = ${b}`;
    } catch ({ message }) {
      seen = `throws: ${message}`;
    }
    console.log(`${name}, ${what}: ${seen}`);
  }
}
JS
node show.cjs | tee seen
[[ $(grep -c '^libsql, too few.*b = null' seen) == 2 && $(grep -c '^libsql, too many: a = 1, b = 2' seen) == 1 ]]
[[ $(grep -c '^better-sqlite3, .*throws' seen) == 3 ]]
