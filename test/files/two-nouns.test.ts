import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Column, Entity, In, Index, PrimaryColumn } from 'typeorm';
import { loadConfig } from '../../src/ground/config/config.js';
import { ID, TIME_MS, text } from '../../src/ground/database/columns.js';
import { Database } from '../../src/ground/database/database.js';
import { migrate } from '../../src/ground/database/migrate.js';
import { RecordRules } from '../../src/ground/kernel/record-rules.js';
import { NAME } from '../../src/ground/kernel/validation.js';
import type { NounDescription } from '../../src/nouns.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { ExportService } from '../../src/tenants/files/export.service.js';
import { FileImport } from '../../src/tenants/files/import.entity.js';
import { type BeginMode, ImportService } from '../../src/tenants/files/import.service.js';
import type { NounFiles } from '../../src/tenants/files/noun-files.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { createServices, DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { toys as TOYS, Toy } from '../support/nouns/toys.js';
import { TEST_ACTOR } from '../support/start-app.js';

/** A second noun beside toys: a note with a name, and a code that is unique in its project. */
@Entity('notes')
@Index('notes_code', ['projectId', 'code'], { unique: true })
class Note {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  @PrimaryColumn(ID)
  id!: bigint;

  @Column(text(255))
  name!: string;

  @Column({ ...text(16), nullable: true })
  code!: string | null;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}

const TABLE = `CREATE TABLE notes (project_id bigint NOT NULL, id bigint NOT NULL, name varchar(255) NOT NULL,
  code varchar(16) NULL, created_at_ms bigint NOT NULL, PRIMARY KEY (project_id, id))`;

const NOTE: NounDescription = {
  ...TOYS.description,
  singular: 'note',
  plural: 'notes',
  type: 'Note',
  fields: [
    {
      name: 'name',
      label: 'Name',
      withArticle: 'a name',
      kind: 'text',
      json: 'text',
      scalar: 'String',
      isRequired: true,
      example: 'A',
    },
    {
      name: 'code',
      label: 'Code',
      withArticle: 'a code',
      kind: 'text',
      json: 'text',
      scalar: 'String',
      isRequired: false,
      example: '1',
    },
  ],
};

const code = { type: 'string', rule: 'must be text' };
const RULES = new RecordRules({ type: 'object', required: ['name'], properties: { name: NAME, code } });

interface Wanted {
  /** `-` = the stream. */
  path: string;
  fields: NounDescription['fields'];
  mode?: BeginMode;
  stream?: Readable;
}

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  let folder: string;
  let projects = 0;

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const { database: target } = loadConfig({ DATABASE_URL: database.url });
    await migrate(target, DATABASE_SCHEMA);
    db = await Database.open(target, { ...DATABASE_SCHEMA, entities: [...DATABASE_SCHEMA.entities, Note] });
    await db.execute(TABLE, []);
    await db.execute('CREATE UNIQUE INDEX notes_code ON notes (project_id, code)', []);
    folder = await mkdtemp(join(tmpdir(), 'petstore-nouns-'));
  });
  afterAll(async () => {
    await db.close();
    await database.remove();
    await rm(folder, { recursive: true });
  });

  const files = (): NounFiles => ({
    description: NOTE,
    entity: Note,
    parse: (input) => RULES.parse(input),
    conflicts: async (projectId, records) => {
      const codes = (records as Note[]).map(({ code }) => code);
      const known = new Set(
        (await db.repository(Note).findBy({ projectId, code: In(codes) })).map(({ code }) => code),
      );
      return codes.map((code) => {
        const isTaken = code !== null && known.has(code);
        known.add(code);
        return isTaken ? [{ field: 'code', message: 'is that of another note' }] : [];
      });
    },
  });
  const services = () => {
    const made = createServices(db, Date.now);
    return {
      projects: made.projects,
      toys: made.filesOf('toys').imports,
      notes: new ImportService(db, files(), made, Date.now),
    };
  };
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
    const rows = Array.from({ length: 2_500 }, (_, at) => `Rex ${at},${at},c${at}`);
    await writeFile(path, `name,categoryId,code\n${rows.join('\n')}\n`);
    const { toys, notes } = services();
    const ended = await Promise.all([
      imported(toys, projectId, { path, fields: TOYS.description.fields }),
      imported(notes, projectId, { path, fields: NOTE.fields }),
    ]);
    expect(ended.map(({ isComplete, progress }) => [isComplete, progress.noun, progress.imported])).toEqual([
      [true, 'toys', 2_500],
      [true, 'notes', 2_500],
    ]);
    expect(await db.repository(Toy).countBy({ projectId })).toBe(2_500);
    expect(await new ExportService(db, files()).count(projectId)).toBe(2_500);
    const states = await db.repository(FileImport).findBy({ projectId });
    expect(new Set(states.map(({ noun }) => noun))).toEqual(new Set(['toys', 'notes']));
    const acts = await db.repository(AuditEvent).findBy({ projectId, subject: `both-${kind}.csv` });
    expect(acts.map(({ action }) => action).toSorted()).toEqual(['notes.import', 'toys.import']);

    // Each noun imports the next content of the file after the other has ended.
    await writeFile(path, 'name,categoryId\nRex,1\n');
    await imported(toys, projectId, { path, fields: TOYS.description.fields });
    await imported(notes, projectId, { path, fields: NOTE.fields });
    const again = imported(notes, projectId, { path, fields: NOTE.fields });
    await expect(again).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('(notes: 1)'),
    });
  });

  test('Import-52: a row with a unique value of another record is refused, and all other rows are imported', async () => {
    const { id: projectId } = await newProject();
    const stored = { projectId, id: 1n, createdAtMs: 1 };
    await db.repository(Note).insert({ ...stored, name: 'Stored', code: 'taken' });
    await db
      .repository(Note)
      .insert({ ...stored, projectId: projectId + 1n, name: 'Elsewhere', code: 'free' });
    const path = join(folder, `unique-${kind}.csv`);
    const many = Array.from({ length: 1_500 }, (_, at) => `Note ${at},m${at}`);
    const rows = ['A,free', 'B,taken', ',x', 'C,', 'D,', 'E,free', ...many, 'F,m3', 'G,last'];
    await writeFile(path, `name,code\n${rows.join('\n')}\n`);
    const { notes } = services();
    const { isComplete, refused, progress } = await imported(notes, projectId, { path, fields: NOTE.fields });
    expect([isComplete, progress.imported, progress.refused]).toEqual([true, 1_504, 4]);
    expect(refused).toEqual([
      expect.stringMatching(/^,x,"?line 4: name must/),
      'B,taken,line 3: code is that of another note,',
      'E,free,line 7: code is that of another note,',
      'F,m3,line 1508: code is that of another note,',
    ]);
    const names = (await db.repository(Note).find({ where: { projectId }, order: { id: 'ASC' } })).map(
      ({ name }) => name,
    );
    expect(names).toEqual(['Stored', 'A', 'C', 'D', ...many.map((row) => row.split(',')[0]), 'G']);
  });

  test('Import-53: a value that another request stores after the check stops the import, and a resumed one refuses its row', async () => {
    const text = 'name,code\nA,1\nB,late\n';
    const path = join(folder, `late-${kind}.csv`);
    await writeFile(path, text);
    for (const stream of [null, Readable.from([Buffer.from(text)])]) {
      const { id: projectId } = await newProject();
      const noun = files();
      const late: NounFiles = {
        ...noun,
        async conflicts(id, records) {
          const found = (await noun.conflicts?.(id, records)) ?? [];
          await db.repository(Note).insert({ projectId, id: 1n, name: 'Late', code: 'late', createdAtMs: 1 });
          return found;
        },
      };
      const imports = new ImportService(db, late, createServices(db, Date.now), Date.now);
      const wanted = { path: stream ? '-' : path, fields: NOTE.fields, ...(stream ? { stream } : {}) };
      await expect(imported(imports, projectId, wanted)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(stream ? 'Import the rows after line 0 again' : 'Use --resume'),
      });
      expect(await db.repository(Note).countBy({ projectId })).toBe(1);
      if (stream) continue;
      const resumed = await imported(services().notes, projectId, { ...wanted, mode: 'resume' });
      expect([resumed.progress.imported, resumed.refused]).toEqual([
        1,
        ['B,late,line 3: code is that of another note,'],
      ]);
    }
  });
});
