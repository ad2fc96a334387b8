import { createGateway } from '../../src/app/gateway.js';
import { SHIPMENTS, shipments } from '../support/nouns/shipments.js';
import { suitesOn } from './suites.js';

suitesOn(createGateway({ name: 'Shipments', nouns: [shipments] }), SHIPMENTS);
