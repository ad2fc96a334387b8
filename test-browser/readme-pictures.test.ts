import { expect, test } from '@jest/globals';
import { Project } from '../src/tenants/projects/project.entity.js';
import { type DomainRig, letGo, ownerOf, startDomainRig } from '../test/support/domains/domain-rig.js';
import { PETSTORE } from '../test/support/pets/petstore.js';
import { TEST_ACTOR } from '../test/support/start-app.js';
import { livedInProject } from './support/lived-in-project.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

const HOST = 'pets.example.net';

let rig: DomainRig;
const visit = visits(async () => {
  const env = { PLATFORM_HOST: HOST, PUBLIC_BASE_URL: `https://api.${HOST}` };
  rig = await startDomainRig('sqlite', { env, gateway: PETSTORE });
  letGo(rig.clock);
  for (const zone of [HOST, 'pawsco.com']) rig.dns.zone(zone);
  rig.dns.set(HOST, 'A', '127.0.0.1');
  return rig;
});

/** `SCREENSHOTS=docs/images npm run test:browser -- readme-pictures` makes new pictures for the README. */
test('Pictures-1: the overview and the diagnosis of a domain fit a screen, as the README shows them', async () => {
  const project = await livedInProject(rig, HOST);
  const { projectId } = project;
  const names = { name: 'Paws & Co', slug: 'paws-and-co' };
  await rig.db.repository(Project).update({ id: projectId }, names);
  const wanted = { projectId, name: "Mia's laptop", scopes: PETSTORE.scopes.all, expiresAtMs: null };
  const { token } = await rig.app.services.apiKeys.create(TEST_ACTOR, wanted);
  const owner = ownerOf(rig, { token });
  rig.dns.set('shop.pawsco.com', 'A', '203.0.113.7');
  const { id } = await owner.add('shop.pawsco.com');
  await owner.verify(id);

  const { page, signIn, open, complaints } = await visit({ height: 880 });
  await signIn(token);
  await page.getByText('Show as a table').waitFor();
  await takePicture(page, 'overview');
  await open(`/settings/domains/${id}`);
  await page.getByText('which block the CNAME').first().waitFor();
  await takePicture(page, 'domain-diagnosis');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
  expect(complaints).toEqual([]);
});
