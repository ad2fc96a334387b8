import { runGateway } from '../../../src/process/run-gateway.js';
import gateway from './toys-gateway.js';

await runGateway(gateway);
