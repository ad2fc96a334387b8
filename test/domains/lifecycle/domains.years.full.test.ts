import { test } from '@jest/globals';
import { expectYearsOfCertificates } from '../../support/domains/simulated-years.js';

test('Renewal-4: from 2027 to 2031 10 domains always have a valid certificate, of 64, 45 or 6 days, and meet no limit of the CA', () =>
  expectYearsOfCertificates(10));
