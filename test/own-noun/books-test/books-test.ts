import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { petstore } from '../support/command-line.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const EMMA = { title: 'Emma', isbn: '9780141439587', pages: 474, priceCents: 899 };

onEachDatabase((app) => {
  const post = (tenant: Tenant, body: object) =>
    rest(app().url, '/v1/books', { method: 'POST', token: tenant.token, body: JSON.stringify(body) });

  test('Books-1: an ISBN is unique in its project, through both doors', async () => {
    const [owner, other] = [await app().tenant(), await app().tenant()];
    expect((await post(owner, EMMA)).status).toBe(201);
    expect(await post(owner, { ...EMMA, title: 'Copy' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect((await post(other, EMMA)).status).toBe(201);
    expect((await post(owner, { ...EMMA, isbn: undefined })).status).toBe(201);
    const created = await post(owner, { ...EMMA, isbn: '0141439580' });
    const change = `mutation { updateBook(id: "${created.body.id}", input: { isbn: "${EMMA.isbn}" }) { id } }`;
    const { body } = await graphql(app().url, change, { token: owner.token });
    expect(body.errors[0].extensions).toMatchObject({ code: 'CONFLICT', status: 409 });
    const both = `mutation { createBooks(inputs: [{ title: "A", pages: 1, priceCents: "1", isbn: "0000000001" }, { title: "B", pages: 1, priceCents: "1", isbn: "0000000001" }]) { id } }`;
    expect((await graphql(app().url, both, { token: owner.token })).body.errors[0].extensions.code).toBe(
      'CONFLICT',
    );
    expect((await rest(app().url, '/v1/books', { token: owner.token })).body).toHaveLength(3);
  });

  test('Books-2: a list is filtered by ISBN and by state, oldest or newest first', async () => {
    const owner = await app().tenant();
    await post(owner, EMMA);
    await post(owner, { title: 'Draft', pages: 1, priceCents: 1, state: 'draft' });
    const titles = async (query: string) =>
      (await rest(app().url, `/v1/books?${query}`, { token: owner.token })).body.map(
        ({ title }: { title: string }) => title,
      );
    expect(await titles(`isbn=${EMMA.isbn}`)).toEqual(['Emma']);
    expect(await titles('state=draft')).toEqual(['Draft']);
    expect(await titles('order=newest')).toEqual(['Draft', 'Emma']);
    const found = await graphql(
      app().url,
      `{ books(isbn: "${EMMA.isbn}") { nodes { title publishedOn } } }`,
      {
        token: owner.token,
      },
    );
    expect(found.body.data.books.nodes).toEqual([{ title: 'Emma', publishedOn: null }]);
  });

  test('Books-3: an import refuses each row that repeats an ISBN or has a price below 0, and the export reads back', async () => {
    const owner = await app().tenant();
    await post(owner, EMMA);
    const file = join(tmpdir(), `books-${randomUUID()}.csv`);
    const rows = [
      'title,isbn,pages,priceCents,publishedOn,state',
      'Walden,,352,799,1854-08-09,withdrawn',
      'Taken,9780141439587,1,1,,',
      'First,0000000001,1,9007199254740993,,draft',
      'Second,0000000001,1,1,,',
      'Third,,1,-5,,',
    ];
    await writeFile(file, `${rows.join('\n')}\n`);
    const { database } = app().config;
    const databaseUrl = database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    const imported = await petstore(['books', 'import', owner.slug, file, '--json'], { databaseUrl });
    expect(imported).toMatchObject({ code: 1, json: { imported: 2, refused: 3 } });
    const { stdout } = await petstore(['books', 'export', owner.slug, '--format', 'ndjson'], { databaseUrl });
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(
      /"title":"First","isbn":"0000000001","pages":1,"priceCents":9007199254740993,"state":"draft"/,
    );
  });
});
