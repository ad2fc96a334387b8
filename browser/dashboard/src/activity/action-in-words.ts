import { NOUNS } from '../../../gateway.js';
import { capitalized } from '../../../nouns.js';
import type { ActPartsFragment } from '../graphql/generated.js';

/** The kinds of acts, by the first part of their action. */
export const KINDS: readonly { value: string; label: string }[] = [
  { value: 'key', label: 'API keys' },
  { value: 'domain', label: 'Domains' },
  { value: 'project', label: 'Project' },
  ...NOUNS.map(({ plural }) => ({ value: plural, label: capitalized(plural) })),
];

const WORDS: Record<string, string> = {
  'key.create': 'created the key',
  'key.rename': 'renamed the key',
  'key.roll': 'rolled the key',
  'key.revoke': 'revoked the key',
  'key.ban': 'banned the key',
  'key.unban': 'lifted the ban of the key',
  'domain.add': 'added the domain',
  'domain.remove': 'removed the domain',
  'domain.configure': 'changed the primary domain and redirects of',
  'domain.move_away': 'took over the domain',
  'project.create': 'created the project',
  'project.change': 'changed the plan of',
  'project.publish': 'published the project',
  ...Object.fromEntries(NOUNS.map(({ plural }) => [`${plural}.import`, `imported ${plural} from`])),
};

/** An act in words, and what it changed. An action that is newer than this page is shown as it is. */
export function inWords({ action, subject, detail }: ActPartsFragment): { verb: string; object: string } {
  const key = detail.find(({ name }) => name === 'key')?.value;
  return { verb: WORDS[action] ?? action, object: key ?? subject };
}

/** The facts besides the changed thing, without values that are not set. */
export function factsOf({ detail }: ActPartsFragment): { name: string; value: string }[] {
  return detail.flatMap(({ name, value }) =>
    name === 'key' || value === null ? [] : [{ name: nameInWords(name), value: value.replaceAll(',', ', ') }],
  );
}

/** `expiresAt` → `expires at`. */
function nameInWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
