const MAX_REPORTED = 8;

/** A broken promise. */
export interface Finding {
  readonly kind: FindingKind;
  /** The subscriber or the project. */
  readonly of: string;
  readonly cursor: string;
  readonly detail: string;
}

export type FindingKind =
  /** Of the log: */
  | 'number used twice'
  | 'number out of order'
  | 'change of another state'
  | 'table unlike the log'
  /** Of what a subscriber received: */
  | 'unknown cursor'
  | 'other project'
  | 'other change'
  | 'unasked change'
  | 'missing change'
  | 'duplicate'
  | 'out of order'
  | 'stalled'
  | 'page unlike the table'
  | 'copy unlike the table';

/** Describes the first findings of each kind; empty = none. */
export function report(findings: readonly Finding[]): string {
  const kinds = new Set(findings.map(({ kind }) => kind));
  const lines = [...kinds].flatMap((kind) => {
    const found = findings.filter((finding) => finding.kind === kind);
    const shown = found
      .slice(0, MAX_REPORTED)
      .map(({ of, cursor, detail }) => `  ${of} at ${cursor}: ${detail}`);
    return [`${found.length} × ${kind}`, ...shown];
  });
  return lines.join('\n');
}
