import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printedBy } from '../programs/programs.js';
import { bindPrograms } from './name-servers.js';

interface Signed {
  text: string;
  /** In presentation form, without the owner: `4711 13 2 …`. */
  delegationSigner: string;
}

/** Signs the text of a zone with one new key, until `endsAt`. The signatures begin a month before. */
export async function signZone(
  home: string,
  { name, text, endsAt }: { name: string; text: string; endsAt: Date },
): Promise<Signed> {
  const { keygen, signzone } = await bindPrograms();
  const folder = join(home, name);
  await mkdir(folder, { recursive: true });
  const zone = join(folder, 'zone');
  const key = await printedBy(keygen, '-q', '-K', folder, '-a', 'ECDSAP256SHA256', '-f', 'KSK', name);
  const publicKey = await readFile(join(folder, `${key.trim()}.key`), 'utf8');
  await writeFile(zone, `${text}\n${publicKey}`);
  const stamp = (date: Date) => date.toISOString().replace(/\D/g, '').slice(0, 14);
  const dates = ['-s', stamp(new Date(endsAt.getTime() - 31 * 86_400_000)), '-e', stamp(endsAt)];
  // One key signs all. Without a check afterwards expired signatures are no error.
  const how = ['-P', '-z', '-K', folder, '-d', folder, '-o', name, '-f', `${zone}.signed`];
  await printedBy(signzone, ...how, ...dates, zone, join(folder, key.trim()));
  const signers = await readFile(join(folder, `dsset-${name}.`), 'utf8');
  return {
    text: await readFile(`${zone}.signed`, 'utf8'),
    delegationSigner: /\bDS\s+(\d+ \d+ 2 .*)/.exec(signers)?.[1] ?? '',
  };
}
