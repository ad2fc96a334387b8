/**
 * The parsed URL, or null if the text is none. It replaces `URL.canParse`: once V8 has optimized its caller, Node 20 reads the
 * bytes of a Latin-1 string as UTF-8, and accepts texts such as `http://ß%aa` that `new URL` refuses.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
