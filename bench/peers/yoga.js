import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { resolvers, typeDefs } from './pets.js';

const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false, graphiql: false });
const server = createServer(yoga);
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log(server.address().port));
