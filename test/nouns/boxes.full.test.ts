import { BOXES, BOXES_GATEWAY } from '../support/nouns/boxes.js';
import { suitesOn } from './suites.js';

suitesOn(BOXES_GATEWAY, BOXES);
