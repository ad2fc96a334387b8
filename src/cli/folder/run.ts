import { runGateway } from '../../process/run-gateway.js';
import { NO_GATEWAY, nearestGateway } from '../nearest-gateway.js';
import { EXIT } from '../output.js';

/** The process of `petstore start` and `petstore dev`. It lacks the flags of the command line, which save memory. */
const gateway = await nearestGateway(process.cwd()).catch(({ message }: Error) => end(message));
await runGateway(gateway ?? end(NO_GATEWAY), []).catch(({ message }: Error) => end(message));

function end(problem: string): never {
  console.error(problem);
  process.exit(EXIT.usage);
}
