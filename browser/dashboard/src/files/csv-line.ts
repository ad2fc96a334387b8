/** A row as CSV (RFC 4180), without a line feed. */
export function csvLine(fields: readonly string[]): string {
  return fields.map(quotedIfNeeded).join(',');
}

/** Blanks at an end are quoted too: some programs remove them otherwise. */
function quotedIfNeeded(field: string): string {
  return /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
