/** Lets the browser save a text as a file. */
export function saveFile(name: string, parts: readonly string[], type = 'text/csv;charset=utf-8'): void {
  const address = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after this task.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file name with the time of its making: `requests-demo-2026-11-22-1345.csv`. */
export function datedName(start: string, nowMs: number): string {
  const [day, time = ''] = new Date(nowMs).toISOString().split('T');
  return `${start}-${day}-${time.slice(0, 5).replace(':', '')}.csv`;
}
