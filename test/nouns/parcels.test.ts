import { PARCELS } from '../support/nouns/parcels.js';
import gateway from '../support/nouns/three-nouns.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { nounSuites } from './suites.js';

// Books have a unique field on each database.
nounSuites(PARCELS, gateway, onAnyDatabase);
