import { suitesOn } from '../nouns/suites.js';
import { BOXES, BOXES_GATEWAY } from '../support/nouns/boxes.js';

suitesOn(BOXES_GATEWAY, BOXES);
