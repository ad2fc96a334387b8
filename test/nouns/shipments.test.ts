import { createGateway } from '../../src/app/gateway.js';
import { SHIPMENTS, shipments } from '../support/nouns/shipments.js';
import { nounSuites } from './suites.js';

nounSuites(SHIPMENTS, createGateway({ name: 'Shipments', nouns: [shipments] }));
