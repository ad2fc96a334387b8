import { createGateway } from '../../../src/app/gateway.js';
import { books } from './books.js';
import { parcels } from './parcels.js';
import { toys } from './toys.js';

/** Serves three nouns side by side. */
export default createGateway({ name: 'Toys, Books and Parcels', nouns: [toys, books, parcels] });
