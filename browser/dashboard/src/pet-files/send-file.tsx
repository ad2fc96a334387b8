import type { ApolloClient } from '@apollo/client';
import { useEffect, useRef, useState } from 'react';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { Progress } from '../files/progress.js';
import { useTask } from '../files/use-task.js';
import { PetsDocument } from '../graphql/generated.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { standing } from '../graphql/standing.js';
import { ALL_PETS, browseTo } from '../pets/pet-browsing.js';
import { inMinutes } from './import-time.js';
import type { PetFile, RefusedRow } from './pet-file.js';
import { RefusedRows } from './refused-rows.js';
import { type Sending, sendPets } from './send-pets.js';

interface Props {
  client: ApolloClient;
  file: PetFile;
  onRunning: (isRunning: boolean) => void;
  onClose: () => void;
}

/** Shows what is in the file, sends its pets, and shows what became of them. */
export function SendFile({ client, file, onRunning, onClose }: Props) {
  const { pets } = file;
  const [sending] = useState(
    (): Sending => ({ pets, key: newIdempotencyKey(), done: 0, added: 0, refused: [] }),
  );
  const [shown, setShown] = useState({ done: 0, added: 0 });
  const show = () => setShown({ done: sending.done, added: sending.added });
  const task = useTask(async (tools) => {
    await sendPets(client, sending, { ...tools, onProgress: show });
    tellDone(`Imported ${counted(sending.added)}.`);
  });
  const isRunning = task.state === 'running';
  const isOver = task.state !== null && !isRunning;
  useEffect(() => onRunning(isRunning), [isRunning, onRunning]);
  useEffect(() => {
    // After a refusal, another request would be a strike.
    if (!isOver || task.error) return;
    // The newest pets come first, so the imported ones are there.
    browseTo(ALL_PETS);
    void client.refetchQueries({ include: [PetsDocument] });
  }, [isOver, task.error, client]);
  const { isBlocked, countdown } = useBlock(task.error);
  const unsent: RefusedRow[] = isOver
    ? pets.slice(sending.done).map((pet) => pet.refused('was not sent'))
    : [];
  const refused = [...file.refused, ...sending.refused, ...unsent].sort((a, b) => a.line - b.line);
  const left = pets.length - shown.done;
  const actions = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each state has other buttons, and the focused one goes.
  useEffect(() => {
    const focused = document.activeElement;
    if (focused && focused !== document.body && !focused.matches('.dialog')) return;
    (
      actions.current?.querySelector<HTMLElement>('.primary') ?? actions.current?.querySelector('button')
    )?.focus();
  }, [task.state]);
  return (
    <>
      <p>
        <bdi>{file.name}</bdi> has {counted(pets.length)} to import.
      </p>
      {task.state === null && <Expectation pets={pets.length} />}
      {task.state !== null && (
        <Progress
          label="Import of pets"
          share={pets.length === 0 ? 1 : shown.done / pets.length}
          text={`${shown.added.toLocaleString()} of ${counted(pets.length)} imported`}
          wait={task.wait}
        />
      )}
      {task.error ? <ErrorNotice error={task.error} /> : null}
      {!isRunning && <RefusedRows file={file} rows={refused} />}
      <div className="actions" ref={actions}>
        {isRunning ? (
          <button type="button" onClick={task.stop}>
            Stop
          </button>
        ) : (
          <button type="button" className={left === 0 && isOver ? 'primary' : undefined} onClick={onClose}>
            {isOver ? 'Close' : 'Cancel'}
          </button>
        )}
        {!isRunning && left > 0 && (
          <button type="button" className="primary" data-first disabled={isBlocked} onClick={task.start}>
            {isOver ? `Import the other ${left.toLocaleString()}` : `Import ${counted(pets.length)}`}
            {countdown}
          </button>
        )}
      </div>
    </>
  );
}

/** The cost and the duration of an import. */
function Expectation({ pets }: { pets: number }) {
  const known = standing.use();
  if (pets === 0) return null;
  const dayLeft = known?.day?.remaining;
  return (
    <p className="muted">
      Each pet spends one request of the plan; a part of every minute stays free for other clients.{' '}
      {inMinutes(pets, known?.minute.limit)}
      {dayLeft !== undefined && dayLeft < pets && (
        <strong> Today’s quota has only {dayLeft.toLocaleString()} requests left.</strong>
      )}
    </p>
  );
}

function counted(pets: number): string {
  return pets === 1 ? '1 pet' : `${pets.toLocaleString()} pets`;
}
