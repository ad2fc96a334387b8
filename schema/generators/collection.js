import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Converter from 'openapi-to-postmanv2';

const SCHEMA = join(import.meta.dirname, '..');

/** Throws if Postman's converter makes other requests from the document than `schema/postman.json` has. D-271. */
const options = { parametersResolution: 'Example', enableOptionalParameters: false };
const source = { type: 'file', data: join(SCHEMA, 'openapi.json') };
const { output } = await promisify(Converter.convertV2.bind(Converter))(source, options);
const own = JSON.parse(await readFile(join(SCHEMA, 'postman.json'), 'utf8'));
const [converted, ours] = [output[0].data, own].map((collection) =>
  requestsIn(collection.item).sort().join('\n'),
);
if (converted !== ours)
  throw new Error(`schema/postman.json has\n${ours}\nbut Postman's converter makes\n${converted}`);

function requestsIn(items) {
  return items.flatMap(({ item, request }) => {
    if (item) return requestsIn(item);
    const { method, url, body } = request;
    return `${method} ${url.path.join('/')} ${body?.raw ?? ''}`;
  });
}
