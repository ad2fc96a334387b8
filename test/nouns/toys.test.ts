import gateway from '../support/gateway/toys-gateway.js';
import { TOYS } from '../support/nouns/toys.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { nounSuites } from './suites.js';

// Books run on each database.
nounSuites(TOYS, gateway, onAnyDatabase);
