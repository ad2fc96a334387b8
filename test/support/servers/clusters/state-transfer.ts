import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The name of the method, for `wsrep_sst_method`. */
export const TRANSFER = 'copy';

/**
 * Writes the program for state transfers, which `mariadbd` finds by PATH. Returns its folder. It copies the files of the donor,
 * because all nodes run on one machine: the program of the package needs rsync, and root drops its rights for it.
 */
export async function putTransfer(home: string): Promise<string> {
  const folder = join(home, 'bin');
  await mkdir(folder);
  const file = join(folder, `wsrep_sst_${TRANSFER}`);
  await writeFile(file, SCRIPT);
  await chmod(file, 0o755);
  return folder;
}

// `mariadbd` expects of it what these scripts do: `wsrep_sst_rsync` and `wsrep_sst_common` of MariaDB 10.11. Each side ends with the position
// of the data. `--bypass`: the joiner needs only write sets, which do not come through this program.
const SCRIPT = `#!/bin/sh
set -eu
bypass=
while [ $# -gt 0 ] && [ "$1" != --mysqld-args ]; do
  case $1 in
    --bypass) bypass=1; shift; continue ;;
    --role) role=$2 ;;
    --address) address=$2 ;;
    --datadir) data=\${2%/} ;;
    --gtid) position=$2 ;;
    --parent) parent=$2 ;;
  esac
  shift 2
done
if [ "$role" = joiner ]; then
  rm -f "$data/.transferred"
  echo "ready $data"
  until [ -s "$data/.transferred" ]; do
    kill -0 "$parent" || exit 32
    sleep 0.05
  done
  cat "$data/.transferred"
  exit
fi
if [ -z "$bypass" ]; then
  rm -f "$data/tables_flushed"
  echo 'flush tables'
  until [ -s "$data/tables_flushed" ]; do sleep 0.05; done
  position=$(cut -d ' ' -f 1 "$data/tables_flushed")
  rm "$data/tables_flushed"
  cd "$address"
  find . -mindepth 1 -maxdepth 1 ! -name galera.cache ! -name grastate.dat -exec rm -rf {} +
  cd "$data"
  find . -mindepth 1 -maxdepth 1 ! -name galera.cache ! -name grastate.dat ! -name gvwstate.dat -exec cp -r {} "$address" ';'
fi
echo continue
echo "$position 0" >"$address/.transferring"
mv "$address/.transferring" "$address/.transferred"
echo "done $position 0"
`;
