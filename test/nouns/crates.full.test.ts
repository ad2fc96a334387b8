import { anyDatabase } from '../support/databases.js';
import stores, { CRATES } from '../support/nouns/stores.js';
import { suitesOn } from './suites.js';

suitesOn(stores, CRATES, [anyDatabase()]);
