import type { IncomingMessage } from 'node:http';

/** Of about 500 bytes of memory each, whatever their size. */
const MAX_PIECES = 500;
/** Beyond these, on average: a body of 100 KB has at most 800 pieces. */
const MIN_BYTES = 128;

/**
 * Calls `refuse` once, and takes nothing more, when a chunked body arrives in too many small pieces: Node makes a Buffer
 * of each chunk, and its own bound counts their bytes alone. To be called before the first piece.
 */
export function boundPieces(request: IncomingMessage, refuse: () => void): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  let [pieces, bytes] = [0, 0];
  let isRefused = false;
  const push = request.push.bind(request);
  request.push = (piece: Buffer | null) => {
    if (isRefused) return true;
    if (piece === null) return push(piece);
    pieces += 1;
    bytes += piece.length;
    isRefused = pieces > MAX_PIECES && bytes < pieces * MIN_BYTES;
    if (!isRefused) return push(piece);
    refuse();
    return true;
  };
}
