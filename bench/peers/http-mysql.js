import { createServer } from 'node:http';
import { createPet, listPets } from './pets.js';

/** The least that a list and an insert can cost in Node: no framework, no key, no quota, no validation, no log. */
const server = createServer(async (request, response) => {
  try {
    if (request.method === 'POST') return answer(response, 201, await createPet(await readJson(request)));
    const { nodes } = await listPets(/[?&]cursor=(\d+)/.exec(request.url)?.[1]);
    answer(response, 200, nodes);
  } catch (error) {
    answer(response, 500, { message: error.message });
  }
});

function answer(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(server.address().port));
