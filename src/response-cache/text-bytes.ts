/** The bytes that V8 takes for a text: one for each character, two as soon as one of them is outside of Latin-1. */
export function textBytes(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of Latin-1 is meant.
  return /[^\u0000-\u00ff]/.test(text) ? text.length * 2 : text.length;
}
