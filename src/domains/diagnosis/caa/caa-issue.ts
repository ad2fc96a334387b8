/** The value of an `issue` record that names a CA. */
export interface IssueProperty {
  /** In lower case. */
  issuer: string;
  parameters: [tag: string, value: string][];
}

/** Null = the record allows no CA: it names none (`;`), or it is malformed, which means the same. Source: RFC 8659 §4.2. */
export function parseIssueProperty(text: string): IssueProperty | null {
  // Names and values cannot contain a semicolon, even in quotes.
  const [issuer = '', ...rest] = text.split(';').map(withoutBlanks);
  if (!ISSUER.test(issuer)) return null;
  // A semicolon without parameters is allowed; a semicolon after the last parameter is not.
  if (rest.length === 1 && rest[0] === '') return { issuer: issuer.toLowerCase(), parameters: [] };
  const parameters = rest.map(parseParameter);
  if (parameters.includes(null)) return null;
  return { issuer: issuer.toLowerCase(), parameters: parameters.filter((parameter) => parameter !== null) };
}

const ISSUER = /^[a-z0-9]+(-+[a-z0-9]+)*(\.[a-z0-9]+(-+[a-z0-9]+)*)*$/i;
const TAG = /^[a-z0-9]+(-+[a-z0-9]+)*$/i;
const VALUE = /^[\x21-\x3a\x3c-\x7e]*$/;

function parseParameter(text: string): [string, string] | null {
  const [tag = '', ...parts] = text.split('=').map(withoutBlanks);
  // Values can contain equal signs, for example in the query string of an account URL.
  const value = withoutBlanks(text.slice(text.indexOf('=') + 1));
  return parts.length > 0 && TAG.test(tag) && VALUE.test(value) ? [tag, value] : null;
}

/** Not `trim()`: only blanks and tabs are allowed here. No regular expression: 60,000 blanks would take minutes. */
function withoutBlanks(text: string): string {
  const isBlank = (index: number) => text[index] === ' ' || text[index] === '\t';
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}
