import createOpenApiFetch from 'openapi-fetch';
import { client as heyApi } from '../out/hey-api/client.gen.js';
import { createPet as addWithHeyApi, listPets as listWithHeyApi } from '../out/hey-api/sdk.gen.js';
import { zNewPet } from '../out/hey-api/zod.gen.js';
import { createPet as addWithKubb } from '../out/kubb/clients/createPet.js';
import { listPets as listWithKubb } from '../out/kubb/clients/listPets.js';
import { newPetSchema } from '../out/kubb/zod/newPetSchema.js';
import type { components, paths } from '../out/openapi-typescript.js';
import { createPet as addWithOrval, listPets as listWithOrval } from '../out/orval/client.js';
import { CreatePetBody } from '../out/orval/zod.js';
import { readExactly, writeExactly } from './exact-json.js';
import { gateway } from './gateway.js';

type NewPet = components['schemas']['NewPet'];
type Pet = components['schemas']['Pet'];

const { baseUrl, headers } = gateway();
heyApi.setConfig({ baseUrl, headers, parseAs: 'text', bodySerializer: writeExactly });
const openApiFetch = createOpenApiFetch<paths>({ baseUrl, headers, bodySerializer: writeExactly });

/** By tool: creates the pet, after the tool's own validator has seen it, and lists what was stored. */
const CLIENTS: Record<string, (pet: NewPet) => Promise<unknown>> = {
  'openapi-fetch': async (body) => {
    await openApiFetch.POST('/pets', { body });
    const { data = '' } = await openApiFetch.GET('/pets', { parseAs: 'text' });
    return readExactly(data);
  },
  'hey-api': async (pet) => {
    // Its types say number: they know no int64.
    await addWithHeyApi({ body: zNewPet.parse(pet) as never });
    const { data } = await listWithHeyApi();
    return readExactly(String(data));
  },
  kubb: async (pet) => {
    await addWithKubb(newPetSchema.parse(pet));
    return listWithKubb();
  },
  orval: async (pet) => {
    // Its validator and its JSON know no bigint, so this value is small.
    const small = { ...pet, categoryId: 3 };
    await addWithOrval(CreatePetBody.parse(small) as never);
    return (await listWithOrval()).data;
  },
};

for (const [tool, call] of Object.entries(CLIENTS)) {
  const pet = { name: `${tool} 😀𠮷`, categoryId: 9223372036854775807n };
  const expected = tool === 'orval' ? 3n : pet.categoryId;
  const stored = ((await call(pet)) as Pet[]).filter(({ name }) => name === pet.name);
  if (stored.length !== 1 || stored[0]?.categoryId !== expected) {
    throw new Error(`${tool} does not send or read the pet as it is: ${writeExactly(stored)}`);
  }
}
