import { PARCELS } from '../support/nouns/parcels.js';
import gateway from '../support/nouns/three-nouns.js';
import { nounSuites } from './suites.js';

nounSuites(PARCELS, gateway);
