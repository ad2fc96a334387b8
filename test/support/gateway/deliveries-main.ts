import { createGateway } from '../../../src/app/gateway.js';
import { runGateway } from '../../../src/process/run-gateway.js';
import { deliveries } from '../nouns/deliveries.js';

await runGateway(createGateway({ name: 'Deliveries', nouns: [deliveries] }));
