const MAX_CHARACTERS = 4_096;
const MAX_TEXT_CHARACTERS = 1_500;

/** As `api-keys/token.ts` makes them, also cut short or too long, and with any character percent-encoded, even twice. */
const TOKEN = /(?:p|%(?:25)*70)(?:k|%(?:25)*6b)(?:_|%(?:25)*5f)(?:[0-9a-z]|%(?:25)*[3-7][0-9a-f]){16,}/gi;

/** A line of JSON without tokens, and of bounded length: a client chooses paths and messages of up to 16 KB. */
export function safeLine(line: string): string {
  const short = line.length > MAX_CHARACTERS ? shortened(line) : line;
  // The search for these two takes a tenth of the other.
  return short.includes('pk_') || short.includes('%') ? short.replace(TOKEN, 'pk_[redacted]') : short;
}

function shortened(line: string): string {
  return `${JSON.stringify(JSON.parse(line), (_, value) => (typeof value === 'string' ? cut(value) : value))}\n`;
}

function cut(text: string): string {
  const more = text.length - MAX_TEXT_CHARACTERS;
  return more > 0 ? `${text.slice(0, MAX_TEXT_CHARACTERS)}… (${more} characters more)` : text;
}
