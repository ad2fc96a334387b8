interface SiteFacts {
  /** The name of the host's project; null = a host of the platform. */
  project: string | null;
  /** The base addresses of the platform. */
  servers: { url: string; description: string }[];
}

/** Shows in a page what depends on its host: the address in the code, and the name of the host's project. D-278. */
export function showSite(): void {
  showAddress();
  const { dataset } = document.documentElement;
  const addresses = document.getElementById('addresses');
  if (dataset.project !== undefined || addresses) void showFacts(addresses);
}

function showAddress(): void {
  const main = document.querySelector<HTMLElement>('main[data-origin]');
  const built = main?.dataset.origin;
  if (!main || built === undefined) return;
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    if (text.data.includes(built)) text.data = text.data.replaceAll(built, location.origin);
  }
}

/** Without an answer the page keeps its general name. */
async function showFacts(addresses: HTMLElement | null): Promise<void> {
  const answer = await fetch('/v1/docs/site.json').catch(() => null);
  if (!answer?.ok) return;
  const { project, servers }: SiteFacts = await answer.json();
  if (project !== null) showName(project);
  else addresses?.replaceChildren(...servers.map(({ description, url }) => addressRow(description, url)));
}

function showName(name: string): void {
  const brand = document.querySelector('.site-brand bdi');
  const built = brand?.textContent ?? '';
  document.title = document.title.replace(built, () => name);
  document.querySelector('.site-nav')?.setAttribute('aria-label', name);
  for (const place of document.querySelectorAll('.site-brand bdi, h1 bdi')) place.textContent = name;
}

function addressRow(label: string, url: string): HTMLElement {
  const row = document.createElement('div');
  const details = document.createElement('dd');
  const code = document.createElement('code');
  code.append(url);
  details.append(code);
  row.append(Object.assign(document.createElement('dt'), { textContent: label }), details);
  return row;
}
