import { createGateway } from '../../src/app/gateway.js';
import { suitesOn } from '../nouns/suites.js';
import { DELIVERIES, deliveries } from '../support/nouns/deliveries.js';

suitesOn(createGateway({ name: 'Deliveries', nouns: [deliveries] }), DELIVERIES);
