import { test } from '@jest/globals';
import { expectYearsOfCertificates } from '../../support/domains/simulated-years.js';

// These take a minute of processor time.
test('Renewal-6: 100 domains, 50 of a zone, do so too', () => expectYearsOfCertificates(100), 15 * 60_000);
