import { createServer } from 'node:http';
import { listPets } from './pets.js';

/** The cost of Node's HTTP server alone: every request gets the first page, which is made once. */
const body = Buffer.from(JSON.stringify((await listPets()).nodes));

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});

server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(server.address().port));
