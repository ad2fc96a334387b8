import type { SearchEntry } from '../../../src/doors/web/shown/search-entry.js';

const INDEX = '/v1/docs/search.json';
const MOST_RESULTS = 12;

/** The search above the list of pages. It loads what it can find with the first focus. `/` moves the focus there. */
export function startSearch(): void {
  const place = document.querySelector<HTMLElement>('.search');
  const field = place?.querySelector('input');
  const list = place?.querySelector('ul');
  const status = place?.querySelector('[role="status"]');
  if (!place || !field || !list || !status) return;
  place.hidden = false;
  let entries: Promise<SearchEntry[]> | null = null;
  const load = () => {
    entries ??= fetch(INDEX).then((answer) => answer.json());
    return entries.catch(() => {
      entries = null;
      return [];
    });
  };
  const show = async () => {
    const wanted = field.value;
    const found = wanted.trim() === '' ? [] : find(await load(), wanted);
    if (wanted !== field.value) return;
    list.hidden = wanted.trim() === '';
    status.textContent = list.hidden ? '' : found.length === 1 ? '1 result' : `${found.length} results`;
    list.replaceChildren(...(found.length > 0 ? found.map(result) : [nothing()]));
  };
  field.addEventListener('focus', () => void load(), { once: true });
  field.addEventListener('input', () => void show());
  place.addEventListener('keydown', (event) => moveFocus(event, field, list));
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target !== document.body) return;
    event.preventDefault();
    field.focus();
  });
}

/** Entries that contain every word. Entries with the words in their title come first. */
function find(entries: readonly SearchEntry[], wanted: string): SearchEntry[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries.flatMap((entry) => {
    const title = entry.title.toLowerCase();
    const all = `${title} ${entry.page} ${entry.text}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) return [];
    const inTitle = words.filter((word) => title.includes(word)).length;
    const begins = title.startsWith(words[0] ?? '') ? 1 : 0;
    return [{ entry, score: 2 * inTitle + begins }];
  });
  // Entries of the same score stay in reading order.
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_RESULTS)
    .map(({ entry }) => entry);
}

function result({ title, page, url }: SearchEntry): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = url;
  const place = document.createElement('span');
  place.className = 'hint';
  place.textContent = page;
  link.append(title, ' ', place);
  item.append(link);
  return item;
}

function nothing(): HTMLElement {
  const item = document.createElement('li');
  item.textContent = 'Nothing found';
  return item;
}

/** Arrow keys move between the field and its results; Enter in the field opens the first, Escape empties it. */
function moveFocus(event: KeyboardEvent, field: HTMLInputElement, list: HTMLElement): void {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'Escape' && field.value !== '') {
    event.preventDefault();
    field.value = '';
    field.dispatchEvent(new Event('input'));
    field.focus();
  } else if (event.key === 'Enter' && event.target === field) {
    event.preventDefault();
    links[0]?.click();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    const next = at + (event.key === 'ArrowDown' ? 1 : -1);
    (next < 0 ? field : (links[next] ?? links.at(-1)))?.focus();
  }
}
