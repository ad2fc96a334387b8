import { createGateway } from '../../src/app/gateway.js';
import { DELIVERIES, deliveries } from '../support/nouns/deliveries.js';
import { suitesOn } from './suites.js';

suitesOn(createGateway({ name: 'Deliveries', nouns: [deliveries] }), DELIVERIES);
