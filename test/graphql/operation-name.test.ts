import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { type OperationDefinitionNode, parse } from 'graphql';
import { operationName } from '../../src/doors/graphql/operations/measured-operation.js';

const DOCUMENTS = 500;
const COMMENT = 'x'.repeat(90_000);
const MOST_MB = 5;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}

test.each([
  ['a name', (at: number) => `query OperationWithLongName${at} { toys }`],
  ['a root field', (at: number) => `{ aRootFieldWithLongName${at} }`],
])(
  `Attack-30: the names of ${DOCUMENTS} documents of 90 KB with %s keep no document in memory`,
  (_, textAt) => {
    const before = heapMb();
    const names = Array.from({ length: DOCUMENTS }, (__, at) => {
      // The body of a request is decoded into a single text, too.
      const source = Buffer.from(`${textAt(at)} # ${COMMENT}${at}`).toString();
      const operation = parse(source, { noLocation: true }).definitions[0] as OperationDefinitionNode;
      const [field] = operation.selectionSet.selections;
      const root = field?.kind === 'Field' ? field.name.value : '';
      return operationName(operation, [root], new Set([root]));
    });
    expect(heapMb() - before).toBeLessThan(MOST_MB);
    expect(new Set(names).size).toBe(DOCUMENTS);
  },
);
