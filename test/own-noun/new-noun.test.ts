import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const newNoun = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['new-noun/make.js', ...words]);
  return { status, stdout: String(stdout), stderr: String(stderr) };
};

test.each([
  [[], 'State the noun, and its plural if it is irregular.'],
  [['Book'], '"Book" is not a word of lower-case letters, such as book.'],
  [['note-book'], '"note-book" is not a word of lower-case letters, such as book.'],
  [['b'.repeat(25)], 'has more than 24 letters.'],
  [['sheep', 'sheep'], 'The plural of "sheep" must differ from it: state another one.'],
  [['pet'], 'src/pets already exists.'],
  [['project'], 'The GraphQL API already has the root field "project".'],
  [['request'], 'The GraphQL API already has the type "Request".'],
  [['key'], '"keys" is a word of the gateway itself.'],
  [['group'], '"groups" is a reserved word of SQL.'],
])('NewNoun-3: new-noun %j is refused in one line, before any file is written', (words, reason) => {
  const refused = newNoun(...words);
  expect([refused.status, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(reason);
});

test('NewNoun-4: new-noun --help shows its usage', () => {
  const { status, stdout } = newNoun('--help');
  expect([status, stdout]).toEqual([0, expect.stringContaining('npm run new-noun -- person people')]);
});
