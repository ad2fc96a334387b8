import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildSchema } from 'graphql';
import { KnownDocuments, PersistedQueries } from '../../src/doors/graphql/known-documents.js';
import { DocumentGate, OperationCharges } from '../../src/doors/graphql/operation-charges.js';
import type { Meter } from '../../src/request/admission/meter.js';
import { JsonBody, withNumbersOrText } from '../../src/request/http/content/json-body.js';

const SOURCE = '{ __schema { queryType { name } } }';
const HASH = createHash('sha256').update(SOURCE).digest('hex');
const persistedQuery = { version: 1, sha256Hash: HASH };
const json = JSON.stringify({ persistedQuery });

const posted = (body: object) => ({
  method: 'POST',
  body: new JsonBody(Buffer.from(JSON.stringify(body)), withNumbersOrText, null),
});

const got = (parameters: Record<string, string>) => ({
  method: 'GET',
  url: `/graphql?${new URLSearchParams(parameters)}`,
});

/** The requests of a refused key that bring a document to parse, in every spelling of its hash. */
const REQUESTS: Record<string, object> = {
  'the text itself': posted({ variables: {}, query: SOURCE }),
  'a hash in a POST': posted({ extensions: { persistedQuery } }),
  'a hash after another one': posted({
    extensions: { other: { sha256Hash: 'f'.repeat(64) }, persistedQuery },
  }),
  'a hash in a GET': got({ extensions: json }),
  'an escaped hash in a GET': got({ extensions: json.replace('sha', '\\u0073ha') }),
};

test.each(Object.entries(REQUESTS))(
  'DocumentGate-1: a new document of a refused key is not parsed without asking: %s',
  async (_, request) => {
    const persistedQueries = new PersistedQueries();
    await persistedQueries.set(`apq:${HASH}`, SOURCE);
    const asked: boolean[] = [];
    const meter = {
      admitUnread: (_: FastifyRequest, __: FastifyReply, mayManage: boolean) => {
        asked.push(mayManage);
      },
    } as unknown as Meter;
    const charges = new OperationCharges(buildSchema('type Query { toys: Int }'), meter);
    const gate = new DocumentGate(charges, meter, new KnownDocuments(), persistedQueries);
    await gate.chargeUnread(request as FastifyRequest, {} as FastifyReply);
    expect(asked).toEqual([true]);
  },
);
