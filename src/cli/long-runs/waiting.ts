/** Returns a function that explains once, on standard error, why a command waits. */
export function sayWaiting(): () => void {
  let isSaid = false;
  return () => {
    if (!isSaid) process.stderr.write('The database is locked or unavailable. Waiting for up to a minute.\n');
    isSaid = true;
  };
}
