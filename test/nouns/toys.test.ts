import { anyDatabase } from '../support/databases.js';
import gateway from '../support/gateway/toys-gateway.js';
import { TOYS } from '../support/nouns/toys.js';
import { suitesOn } from './suites.js';

// Books run on each database.
suitesOn(gateway, TOYS, [anyDatabase()]);
