#!/usr/bin/env bash
# libsql 0.5.29, the synchronous driver for Node: after `all` or `iterate` of EXPLAIN, or EXPLAIN QUERY PLAN, of a DELETE, an
# open transaction can't be committed. After `get` it can, and so it can after EXPLAIN of a SELECT.
# Guess beforehand: EXPLAIN of any statement reads some rows and ends, so COMMIT succeeds.
# Seen: COMMIT fails with "cannot commit transaction - SQL statements in progress", although all rows were read.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund libsql@0.5.29
cat > show.cjs <<'JS'
const Database = require('libsql');
const ways = {
  all: (statement) => statement.all(),
  iterate: (statement) => [...statement.iterate()],
  get: (statement) => statement.get(),
};
for (const sql of ['EXPLAIN SELECT * FROM t', 'EXPLAIN DELETE FROM t', 'EXPLAIN QUERY PLAN DELETE FROM t']) {
  for (const [name, read] of Object.entries(ways)) {
    const db = new Database(':memory:');
    db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)');
    db.exec('BEGIN');
    read(db.prepare(sql));
    let end = 'committed';
    try {
      db.exec('COMMIT');
    } catch ({ message }) {
      end = message;
    }
    console.log(`${sql}, ${name}: ${end}`);
  }
}
JS
node show.cjs | tee seen
busy='cannot commit transaction - SQL statements in progress'
[[ $(grep -c "committed" seen) == 5 && $(grep -c "DELETE.*\(all\|iterate\): $busy" seen) == 4 ]]
