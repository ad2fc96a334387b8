import { type SampleRequest, samplesOf } from '../../../browser/pages/reference/samples.js';
import type { Code } from '../pages/code-block.js';
import { bodyExamplesOf, isPublic, type LocatedOperation, type Parameter } from './parts/openapi-parts.js';

/** Values of parameters in samples and forms; a parameter that is not here is left out. */
export const SAMPLE_VALUES: Record<string, string> = {
  limit: '20',
  status: 'available',
  petId: '4711',
  'Idempotency-Key': '7b1f0c52-add-rex',
};

/** The operation with sample values, in curl, JavaScript and Python. The form of the operation begins with the same. */
export function operationSamples(operation: LocatedOperation, origin: string): Code[] {
  return samplesOf(sampleRequest(operation, origin));
}

function sampleRequest(operation: LocatedOperation, origin: string): SampleRequest {
  const { method, path, parameters = [] } = operation;
  const known = (place: Parameter['in']) =>
    parameters.flatMap(({ name, in: at }): [string, string][] => {
      const value = SAMPLE_VALUES[name];
      return at === place && value !== undefined ? [[name, value]] : [];
    });
  const [[, example] = []] = bodyExamplesOf(operation);
  return {
    method,
    url: origin + known('path').reduce((at, [name, value]) => at.replace(`{${name}}`, value), path),
    query: known('query'),
    headers: known('header'),
    needsKey: !isPublic(operation),
    body: example === undefined ? null : JSON.stringify(example.value, null, 2),
  };
}
