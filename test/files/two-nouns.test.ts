import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { databaseSchema } from '../../src/app/database-schema.js';
import { type LoadedGateway, loadGateway } from '../../src/app/gateway.js';
import { createServices } from '../../src/app/services.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { migrate } from '../../src/ground/migrating/migrate.js';
import type { DefinedNoun } from '../../src/noun/define-noun.js';
import type { NounDescription } from '../../src/nouns.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { FileImport } from '../../src/tenants/files/import.entity.js';
import { type BeginMode, ImportService } from '../../src/tenants/files/import.service.js';
import type { NounFiles } from '../../src/tenants/files/noun-files.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { books } from '../support/nouns/books.js';
import threeNouns from '../support/nouns/three-nouns.js';
import { Toy, toys } from '../support/nouns/toys.js';
import { TEST_ACTOR } from '../support/start-app.js';

const Book = books.entity;
const { fields } = books.description;
/** Of toys and of books: each noun ignores the columns of the other. */
const HEAD = 'name,categoryId,title,pages,priceCents,isbn';
/** An ISBN of this number; absent = none. */
const isbn = (n?: number) => (n === undefined ? '' : `978${String(n).padStart(10, '0')}`);
const row = (title: string, n?: number) => `Rex,1,${title},1,1,${isbn(n)}`;
const bookOf = (projectId: bigint, title: string, n: number) => ({
  ...{ projectId, id: 1n, createdAtMs: 1, title, isbn: isbn(n), pages: 1, priceCents: 1n },
  ...{ rating: 3, binding: 'paper' as const },
});

interface Wanted {
  /** `-` = the stream. */
  path: string;
  fields: NounDescription['fields'];
  mode?: BeginMode;
  stream?: Readable;
}

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let gateway: LoadedGateway;
  let db: Database;
  let folder: string;
  let projects = 0;

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const { database: target } = loadConfig({ DATABASE_URL: database.url });
    gateway = await loadGateway(threeNouns);
    await migrate(target, databaseSchema(gateway));
    db = await Database.open(target, databaseSchema(gateway));
    folder = await mkdtemp(join(tmpdir(), 'petstore-nouns-'));
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
    await rm(folder, { recursive: true });
  });

  const services = () => createServices(gateway, db, Date.now);
  const filesOfBooks = () => services().nouns[1]?.files as NounFiles;
  const importsOf = (plural: string) => services().filesOf(plural).imports;
  const newProject = async () => {
    projects += 1;
    const slug = `shop-${projects}`;
    const wanted = { slug, name: null, plan: 'FREE', perMinute: null, perDay: null } as const;
    return services().projects.create(TEST_ACTOR, wanted);
  };
  /** The progress at the end, and the refused rows. */
  const imported = async (
    imports: ImportService,
    projectId: bigint,
    { path, fields, mode = 'new', stream = process.stdin }: Wanted,
  ) => {
    const onWait = () => {};
    const file = await openRecordFile(path, stream, fields);
    const names = { path, slug: 'shop' };
    const start = { mode, names, reportPath: `${path}.refused`, mayBegin: () => {}, onWait };
    const progress = await imports.begin(projectId, file, start);
    const refused: string[] = [];
    const { signal } = new AbortController();
    const report = (rows: { text: string }[]) => refused.push(...rows.map((row) => row.text));
    const isComplete = await imports.run(TEST_ACTOR, {
      file,
      progress,
      signal,
      onWait,
      report,
      onProgress: () => {},
    });
    file.stop();
    return { isComplete, refused, progress };
  };

  test('Import-51: two nouns import the same file into a project at the same time, each with its own state', async () => {
    const { id: projectId } = await newProject();
    const path = join(folder, `both-${kind}.csv`);
    const rows = Array.from({ length: 2_500 }, (_, at) => row(`Title ${at}`, at));
    await writeFile(path, `${HEAD}\n${rows.join('\n')}\n`);
    const load = (noun: DefinedNoun) =>
      imported(importsOf(noun.description.plural), projectId, { path, fields: noun.description.fields });
    const ended = await Promise.all([load(toys), load(books)]);
    expect(ended.map(({ isComplete, progress }) => [isComplete, progress.noun, progress.imported])).toEqual([
      [true, 'toys', 2_500],
      [true, 'books', 2_500],
    ]);
    expect(await db.repository(Toy).countBy({ projectId })).toBe(2_500);
    expect(await services().filesOf('books').exports.count(projectId)).toBe(2_500);
    const states = await db.repository(FileImport).findBy({ projectId });
    expect(new Set(states.map(({ noun }) => noun))).toEqual(new Set(['toys', 'books']));
    const acts = await db.repository(AuditEvent).findBy({ projectId, subject: `both-${kind}.csv` });
    expect(acts.map(({ action }) => action).toSorted()).toEqual(['books.import', 'toys.import']);

    // Each noun imports the next content of the file after the other has ended.
    await writeFile(path, `${HEAD}\n${row('Last')}\n`);
    await load(toys);
    await load(books);
    const again = load(books);
    await expect(again).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('(books: 1)'),
    });
  });

  test('Import-52: a row with a unique value of another record is refused, and all other rows are imported', async () => {
    const { id: projectId } = await newProject();
    const stored = db.repository(Book);
    await stored.insert([bookOf(projectId, 'Stored', 1), bookOf(projectId + 1n, 'Elsewhere', 2)]);
    const path = join(folder, `unique-${kind}.csv`);
    const many = Array.from({ length: 1_500 }, (_, at) => row(`Title ${at}`, 1_000 + at));
    const rows = [row('A', 2), row('B', 1), row('', 3), row('C'), row('D'), row('E', 2)];
    rows.push(...many, row('F', 1_003), row('G', 4));
    await writeFile(path, `${HEAD}\n${rows.join('\n')}\n`);
    const { isComplete, refused, progress } = await imported(importsOf('books'), projectId, { path, fields });
    expect([isComplete, progress.imported, progress.refused]).toEqual([true, 1_504, 4]);
    const taken = (line: number) => `line ${line}: isbn is the ISBN of another record`;
    expect(refused).toEqual([
      expect.stringMatching(/line 4: title must/),
      `${row('B', 1)},${taken(3)}`,
      `${row('E', 2)},${taken(7)}`,
      `${row('F', 1_003)},${taken(1508)}`,
    ]);
    const titles = (await stored.find({ where: { projectId }, order: { id: 'ASC' } })).map(
      ({ title }) => title,
    );
    expect(titles).toEqual(['Stored', 'A', 'C', 'D', ...many.map((_, at) => `Title ${at}`), 'G']);
  });

  test('Import-53: a value that another request stores after the check stops the import, and a resumed one refuses its row', async () => {
    const text = `${HEAD}\n${row('A', 1)}\n${row('B', 2)}\n`;
    const path = join(folder, `late-${kind}.csv`);
    await writeFile(path, text);
    for (const stream of [null, Readable.from([Buffer.from(text)])]) {
      const { id: projectId } = await newProject();
      const noun = filesOfBooks();
      const late: NounFiles = {
        ...noun,
        async conflicts(id, records) {
          const found = (await noun.conflicts?.(id, records)) ?? [];
          await db.repository(Book).insert(bookOf(projectId, 'Late', 2));
          return found;
        },
      };
      const imports = new ImportService(db, late, services(), Date.now);
      const wanted = { path: stream ? '-' : path, fields, ...(stream ? { stream } : {}) };
      await expect(imported(imports, projectId, wanted)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(stream ? 'Import the rows after line 0 again' : 'Use --resume'),
      });
      expect(await db.repository(Book).countBy({ projectId })).toBe(1);
      if (stream) continue;
      const resumed = await imported(importsOf('books'), projectId, { ...wanted, mode: 'resume' });
      expect([resumed.progress.imported, resumed.refused]).toEqual([
        1,
        [`${row('B', 2)},line 3: isbn is the ISBN of another record`],
      ]);
    }
  });
});
