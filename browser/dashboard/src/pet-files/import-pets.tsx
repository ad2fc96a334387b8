import { useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { useSession } from '../session/signed-in.js';
import { counted } from './import-card.js';
import { beginImport, currentImport } from './import-job.js';
import { type PetFile, readPetFile } from './pet-file.js';
import { RefusedRows } from './refused-rows.js';
import { PETS_PER_UNIT, UNITS_PER_REQUEST } from './send-pets.js';
import { StartTask } from './start-task.js';

/** Imports a CSV file: choose it, see what is in it and what it costs, start. */
export function ImportPets({ onClose }: { onClose: () => void }) {
  const { slug } = useSession().project;
  const [file, setFile] = useState<PetFile | null>(null);
  const current = currentImport.use();
  const start = (total: number) => {
    if (file) void beginImport({ key: newIdempotencyKey(), project: slug, file, total }).then(onClose);
  };
  return (
    <Dialog title="Import pets" onClose={onClose} isWide>
      {current && current.state !== 'over' ? (
        <p>
          The import of <bdi>{current.file.name}</bdi> is not finished: see the corner of the page.
        </p>
      ) : file ? (
        <>
          <p>
            <bdi>{file.name}</bdi> has {counted(file.pets.length)} to import.
          </p>
          <RefusedRows file={file} rows={file.refused} />
          {file.pets.length > 0 && (
            <StartTask
              verb="Import"
              work={{
                count: file.pets.length,
                perUnit: PETS_PER_UNIT,
                unitsPerRequest: UNITS_PER_REQUEST,
              }}
              counted={counted}
              onStart={start}
              onClose={onClose}
            />
          )}
        </>
      ) : (
        <ChooseFile onChosen={setFile} onClose={onClose} />
      )}
    </Dialog>
  );
}

function ChooseFile({ onChosen, onClose }: { onChosen: (file: PetFile) => void; onClose: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (chosen: File | undefined) => {
    setProblem(null);
    if (!chosen) return;
    try {
      onChosen(await readPetFile(chosen));
    } catch (unreadable) {
      setProblem(`${chosen.name} can’t be imported. ${(unreadable as Error).message}`);
    }
  };
  return (
    <>
      <Field
        label="CSV file"
        hint={
          <>
            UTF-8, with the columns <code>name</code>, <code>categoryId</code> and <code>status</code>. Other
            columns are ignored: each pet gets a new id.
          </>
        }
        problem={problem}
      >
        {(described) => (
          <input
            {...described}
            type="file"
            accept=".csv,text/csv"
            onChange={({ target }) => void choose(target.files?.[0])}
          />
        )}
      </Field>
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}
