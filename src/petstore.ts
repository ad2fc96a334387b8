import { createGateway } from './app/gateway.js';
import { pets } from './pets/pets.js';

/** The one file that says which gateway this is. */
export default createGateway({
  name: 'Petstore Gateway',
  nouns: [pets],
});
