import { useState } from 'react';
import type { NounDescription } from '../../../nouns.js';
import { Dialog } from '../elements/dialog.js';
import { Field } from '../elements/field.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { counted } from '../items/item.js';
import { useSession } from '../session/signed-in.js';
import { beginImport, currentImport } from './import-job.js';
import { IN_WORDS, type ItemFile, readItemFile } from './item-file.js';
import { RefusedRows } from './refused-rows.js';
import { ITEMS_PER_UNIT, UNITS_PER_REQUEST } from './send-items.js';
import { StartTask } from './start-task.js';

interface Props {
  noun: NounDescription;
  onClose: () => void;
}

/** Imports a CSV file: choose it, see what is in it and what it costs, start. */
export function ImportItems({ noun, onClose }: Props) {
  const { slug } = useSession().project;
  const [file, setFile] = useState<ItemFile | null>(null);
  const current = currentImport.use();
  const start = (total: number) => {
    if (file) void beginImport({ key: newIdempotencyKey(), project: slug, file, total }).then(onClose);
  };
  return (
    <Dialog title={`Import ${noun.plural}`} onClose={onClose} isWide>
      {current && current.state !== 'over' ? (
        <p>
          The import of <bdi>{current.file.name}</bdi> is not finished: see the corner of the page.
        </p>
      ) : file ? (
        <>
          <p>
            <bdi>{file.name}</bdi> has {counted(noun, file.items.length)} to import.
          </p>
          <RefusedRows file={file} rows={file.refused} />
          {file.items.length > 0 && (
            <StartTask
              verb="Import"
              work={{
                count: file.items.length,
                perUnit: ITEMS_PER_UNIT,
                unitsPerRequest: UNITS_PER_REQUEST,
              }}
              counted={(count) => counted(noun, count)}
              onStart={start}
              onClose={onClose}
            />
          )}
        </>
      ) : (
        <ChooseFile noun={noun} onChosen={setFile} onClose={onClose} />
      )}
    </Dialog>
  );
}

function ChooseFile({ noun, onChosen, onClose }: Props & { onChosen: (file: ItemFile) => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (chosen: File | undefined) => {
    setProblem(null);
    if (!chosen) return;
    try {
      onChosen(await readItemFile(noun, chosen));
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
            UTF-8, with the columns{' '}
            {IN_WORDS.formatToParts(noun.fields.map(({ name }) => name)).map(({ type, value }) =>
              type === 'element' ? <code key={value}>{value}</code> : value,
            )}
            . Other columns are ignored: each {noun.singular} gets a new id.
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
