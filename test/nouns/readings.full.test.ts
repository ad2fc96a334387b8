import { createGateway } from '../../src/app/gateway.js';
import { anyDatabase } from '../support/databases.js';
import { READINGS, readings } from '../support/nouns/readings.js';
import { suitesOn } from './suites.js';

suitesOn(createGateway({ name: 'Readings', nouns: [readings] }), READINGS, [anyDatabase()]);
