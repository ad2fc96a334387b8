import { useApolloClient } from '@apollo/client/react';
import { useState } from 'react';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { type PetFile, readPetFile } from './pet-file.js';
import { SendFile } from './send-file.js';

/** Imports a CSV file: choose it, see what is in it, send its pets. */
export function ImportPets({ onClose }: { onClose: () => void }) {
  const client = useApolloClient();
  const [file, setFile] = useState<PetFile | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isPinned, setPinned] = useState(false);
  const choose = async (chosen: File | undefined) => {
    setProblem(null);
    if (!chosen) return;
    try {
      setFile(await readPetFile(chosen));
    } catch (unreadable) {
      setProblem(`${chosen.name} can’t be imported. ${(unreadable as Error).message}`);
    }
  };
  return (
    <Dialog title="Import pets" onClose={onClose} isWide isPinned={isPinned}>
      {file ? (
        <SendFile client={client} file={file} onRunning={setPinned} onClose={onClose} />
      ) : (
        <>
          <Field
            label="CSV file"
            hint={
              <>
                UTF-8, with the columns <code>name</code>, <code>categoryId</code> and <code>status</code>.
                Other columns are ignored: each pet gets a new id.
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
      )}
    </Dialog>
  );
}
