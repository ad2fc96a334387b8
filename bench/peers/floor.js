import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The least that an answer costs in Node: it checks nothing, and sends the same status, headers and bytes to every request. */
const { status, headers, body } = JSON.parse(readFileSync(process.env.ANSWER_FILE, 'utf8'));
const bytes = Buffer.from(body);

const server = createServer((_, response) => {
  response.writeHead(status, headers);
  response.end(bytes);
});

server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(server.address().port));
