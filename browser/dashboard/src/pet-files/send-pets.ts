import type { ApolloClient } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { refusalOf } from '../errors/refusal.js';
import { paced, type Wait } from '../files/paced.js';
import { ImportPetDocument, ImportPetsDocument, type NewPet } from '../graphql/generated.js';
import type { ReadPet, RefusedRow } from './pet-file.js';

/** An import that can be interrupted and continued. */
export interface Sending {
  pets: readonly ReadPet[];
  /** Identifies its requests, so that none of them adds a pet twice. */
  key: string;
  /** How many pets were sent. */
  done: number;
  added: number;
  refused: RefusedRow[];
}

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
  onProgress: () => void;
}

/** An operation may have 20 statements, and each pet needs three with its Idempotency-Key. */
const ALIASES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
/** The pet itself is the problem, so no repetition helps. */
const OF_ROW = ['INVALID_REQUEST', 'BAD_USER_INPUT'];

/** Sends the pets that are left, in their order. `sending` always tells how far it is; call again to continue. */
export async function sendPets(client: ApolloClient, sending: Sending, tools: Tools): Promise<void> {
  while (sending.done < sending.pets.length) {
    const batch = sending.pets.slice(sending.done, sending.done + ALIASES.length);
    const key = `${sending.key}-${sending.done}`;
    const isSent = batch.length === ALIASES.length && (await sendTogether(client, batch, key, tools));
    if (!isSent) await sendEach(client, batch, key, sending, tools);
    else sending.added += batch.length;
    sending.done += batch.length;
    tools.onProgress();
  }
}

/** False = a pet of the batch is refused. The pets before it were added. */
async function sendTogether(
  client: ApolloClient,
  batch: readonly ReadPet[],
  key: string,
  tools: Tools,
): Promise<boolean> {
  const variables = Object.fromEntries(ALIASES.map((alias, at) => [alias, batch[at]?.input])) as Record<
    (typeof ALIASES)[number],
    NewPet
  >;
  const context = { headers: { 'idempotency-key': key } };
  try {
    await paced(
      () => client.mutate({ mutation: ImportPetsDocument, variables, context, fetchPolicy: 'no-cache' }),
      { ...tools, of: 'minute', units: batch.length },
    );
    return true;
  } catch (error) {
    if (isOfRow(error)) return false;
    throw error;
  }
}

async function sendEach(
  client: ApolloClient,
  batch: readonly ReadPet[],
  key: string,
  sending: Sending,
  tools: Tools,
): Promise<void> {
  // After an interruption the first pets of the batch are sent again, which adds nothing.
  const counts = { added: 0, refused: [] as RefusedRow[] };
  for (const [at, pet] of batch.entries()) {
    // The gateway adds the alias to the key of an operation with several fields.
    const context = { headers: { 'idempotency-key': `${key}:${ALIASES[at]}` } };
    const variables = { input: pet.input };
    try {
      await paced(
        () => client.mutate({ mutation: ImportPetDocument, variables, context, fetchPolicy: 'no-cache' }),
        { ...tools, of: 'minute', units: 1 },
      );
      counts.added += 1;
    } catch (error) {
      if (!isOfRow(error)) throw error;
      counts.refused.push(pet.refused(refusalOf(error)?.message ?? ''));
    }
  }
  sending.added += counts.added;
  sending.refused.push(...counts.refused);
}

function isOfRow(error: unknown): boolean {
  return CombinedGraphQLErrors.is(error) && OF_ROW.includes(refusalOf(error)?.code ?? '');
}
