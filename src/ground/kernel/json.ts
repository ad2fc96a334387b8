/** The value of a JSON text; undefined = it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A stored list. A text that was there before the field became a list is a list of one. */
export function listIn(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored;
  const list = jsonIn(stored);
  return Array.isArray(list) ? list : [stored];
}

/** The texts of a stored list that its rule allows, each once: an older definition may have allowed longer ones. */
export function entriesIn(stored: unknown, mostCharacters: number): string[] {
  const list = (listIn(stored) ?? []) as readonly unknown[];
  return [...new Set(list.map(String))].filter((entry) => [...entry].length <= mostCharacters);
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
