import Fastify from 'fastify';
import mercurius from 'mercurius';
import { resolvers, typeDefs } from './pets.js';

const app = Fastify();
await app.register(mercurius, { schema: typeDefs, resolvers, jit: 1 });
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
console.log(app.server.address().port);
