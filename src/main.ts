import petstore from './petstore.js';
import { runGateway } from './process/run-gateway.js';

await runGateway(petstore);
