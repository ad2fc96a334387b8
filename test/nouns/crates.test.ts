import stores, { CRATES } from '../support/nouns/stores.js';
import { suitesOn } from './suites.js';

suitesOn(stores, CRATES);
