#!/usr/bin/env bash
# MariaDB 10.11.19 (Debian 12, InnoDB): the next page of records without a value,
# `f IS NULL AND id > ? ORDER BY f, id LIMIT 10`, with an index on (project, f, id).
# Guess beforehand: the index is entered at the id, and 10 rows are read, as for `f = 7 AND id > ?`.
# Seen: with a value 10 rows are read; without one all 1,000 records behind the id are read for this one page.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -q mariadb-server-core mariadb-client-core liburing2 libaio1 > download.log 2>&1
for file in *.deb; do dpkg-deb -x "$file" unpacked; done
libraries=$(dirname "$(find unpacked -name 'liburing.so.2' | head -1)")
export LD_LIBRARY_PATH="$folder/$libraries"
own=(--no-defaults --datadir="$folder/data" --lc-messages-dir="$folder/unpacked/usr/share/mysql" --user="$(id -un)")
mkdir data
unpacked/usr/bin/mariadb-install-db "${own[@]}" --basedir="$folder/unpacked/usr" --auth-root-authentication-method=normal > install.log 2>&1
unpacked/usr/sbin/mariadbd "${own[@]}" --skip-networking --socket="$folder/socket" > server.log 2>&1 &
server=$!
sql() { unpacked/usr/bin/mariadb --no-defaults --socket="$folder/socket" --user=root --skip-column-names "$@"; }
for _ in $(seq 100); do sql -e 'SELECT 1' > /dev/null 2>&1 && break; sleep 0.2; done

sql -e "CREATE DATABASE d" && sql d -e "
  CREATE TABLE t (p BIGINT NOT NULL, id BIGINT NOT NULL, f INT NULL, PRIMARY KEY (p, id), KEY sorted (p, f, id)) ENGINE=InnoDB;
  INSERT INTO t SELECT 1, seq, IF(seq % 2, NULL, 7) FROM seq_1_to_10000;
  ANALYZE TABLE t;" > /dev/null

# Prints how many rows the statement read.
rows_read() {
  sql d -e "FLUSH STATUS; $1; SHOW SESSION STATUS LIKE 'Handler_read%'" | awk '/^Handler_read_(key|next|prev)/ { sum += $2 } END { print sum }'
}
page='id > 8000 ORDER BY f, id LIMIT 10'
value=$(rows_read "SELECT id FROM t WHERE p = 1 AND f = 7 AND $page")
null=$(rows_read "SELECT id FROM t WHERE p = 1 AND f IS NULL AND $page")
echo "MariaDB $(sql -e 'SELECT VERSION()'): f = 7: $value rows read; f IS NULL: $null"
[[ $value -le 12 && $null -ge 1000 ]]
