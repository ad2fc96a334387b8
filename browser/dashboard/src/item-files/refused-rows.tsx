import { Download } from 'lucide-react';
import { saveFile } from '../files/save-file.js';
import type { ItemFile, RefusedRow } from './item-file.js';

interface Props {
  file: ItemFile;
  rows: readonly RefusedRow[];
}

const SHOWN = 100;

/** Saves rows that were not imported, with the reason, as a file to correct. */
export function saveRefused(file: ItemFile, rows: readonly RefusedRow[]): void {
  const name = file.name.replace(/(\.refused)?\.csv$/i, '');
  const lines = [file.refusedHeader, ...rows.map(({ text }) => text)];
  saveFile(
    `${name}.refused.csv`,
    lines.map((line) => `${line}\n`),
  );
}

/** The rows that are not imported, with the reason and as a file to correct. */
export function RefusedRows({ file, rows }: Props) {
  if (rows.length === 0) return null;
  return (
    <div className="refused-rows">
      <p className="refused-head">
        <span>
          {rows.length === 1 ? '1 row is refused.' : `${rows.length.toLocaleString()} rows are refused.`}{' '}
          Correct them in the file, and import that file. The gateway may find more problems then.
        </span>
        <button type="button" className="small" onClick={() => saveRefused(file, rows)}>
          <Download size={15} aria-hidden="true" />
          Download refused rows
        </button>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable with the keyboard. */}
      <section className="refused-scroll" tabIndex={0} aria-label="Refused rows">
        <table>
          <thead>
            <tr>
              <th scope="col" className="number">
                Line
              </th>
              <th scope="col">Problem</th>
              <th scope="col">Row</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map(({ line, problem, original }) => (
              <tr key={line}>
                <td className="number">{line}</td>
                <td>{problem.replace(/^line \d+: /, '')}</td>
                <td>
                  <bdi>{original}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > SHOWN && <p className="muted">The table has the first {SHOWN}; the file has all.</p>}
    </div>
  );
}
