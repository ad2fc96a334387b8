import { createGateway } from '../../../src/app/gateway.js';
import { toys } from '../nouns/toys.js';

/** The gateway of the tests of the platform. A process finds it by the `package.json` beside this file. */
export default createGateway({ name: 'Petstore Gateway', nouns: [toys] });
