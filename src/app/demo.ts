import { AppError } from '../ground/kernel/errors.js';
import type { LoadedGateway } from './gateway.js';
import type { Services } from './services.js';

const DEMO_SLUG = 'demo';

/** Creates the demo project with its records. Returns its key, once; null when the project already exists. */
export async function seedDemo(
  { nouns: [first], scopes }: LoadedGateway,
  { projects, apiKeys, nouns }: Services,
): Promise<string | null> {
  const actor = { name: 'demo', requestId: null };
  try {
    const project = await projects.create(actor, {
      slug: DEMO_SLUG,
      name: `Demo ${first.description.singular} store`,
      plan: 'PRO',
      perMinute: null,
      perDay: null,
    });
    const { token } = await apiKeys.create(actor, {
      projectId: project.id,
      name: 'demo',
      scopes: scopes.all,
      expiresAtMs: null,
    });
    const caller = await apiKeys.identify(token);
    if (!caller) throw new Error('the demo key was not accepted');
    for (const noun of nouns) await noun.seedDemo({ caller, actor, idempotencyKey: null });
    return token;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return null;
    throw error;
  }
}
