import { anyDatabase } from '../support/databases.js';
import { PARCELS } from '../support/nouns/parcels.js';
import gateway from '../support/nouns/three-nouns.js';
import { suitesOn } from './suites.js';

// Books have a unique field on each database.
suitesOn(gateway, PARCELS, [anyDatabase()]);
