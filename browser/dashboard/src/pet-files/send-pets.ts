import type { ApolloClient } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { refusalOf } from '../errors/refusal.js';
import { paced, type Wait } from '../files/paced.js';
import { ImportPetDocument, ImportPetsDocument, type NewPet } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';
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
    // A continued import has the same batches, so that each pet keeps its key.
    const start = sending.done - (sending.done % ALIASES.length);
    const batch = sending.pets.slice(start, start + ALIASES.length);
    const key = `${sending.key}-${start}`;
    // The rest of the day is spent to the last pet.
    const isRoom = (standing.get()?.day?.remaining ?? ALIASES.length) >= ALIASES.length;
    const isWhole = batch.length === ALIASES.length && sending.done === start && isRoom;
    if (isWhole && (await sendTogether(client, batch, key, tools))) {
      sending.added += batch.length;
      sending.done += batch.length;
      tools.onProgress();
    } else {
      await sendEach(client, batch, key, sending, tools);
    }
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

/** Sends the pets of the batch that are left. A pet that was added already is not added again. */
async function sendEach(
  client: ApolloClient,
  batch: readonly ReadPet[],
  key: string,
  sending: Sending,
  tools: Tools,
): Promise<void> {
  for (let at = sending.done % ALIASES.length; at < batch.length; at += 1) {
    const pet = batch[at] as ReadPet;
    // The gateway adds the alias to the key of an operation with several fields.
    const context = { headers: { 'idempotency-key': `${key}:${ALIASES[at]}` } };
    const variables = { input: pet.input };
    try {
      await paced(
        () => client.mutate({ mutation: ImportPetDocument, variables, context, fetchPolicy: 'no-cache' }),
        { ...tools, of: 'minute', units: 1 },
      );
      sending.added += 1;
    } catch (error) {
      if (!isOfRow(error)) throw error;
      sending.refused.push(pet.refused(refusalOf(error)?.message ?? ''));
    }
    sending.done += 1;
    tools.onProgress();
  }
}

function isOfRow(error: unknown): boolean {
  return CombinedGraphQLErrors.is(error) && OF_ROW.includes(refusalOf(error)?.code ?? '');
}
