const CONFIRMED_MS = 2_000;

/** Adds a button to each block of code that copies what the block shows. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet small copy';
    const name = block.querySelector('.code-name');
    const label = (word: string) => {
      button.textContent = word;
      button.setAttribute('aria-label', `${word}: ${name?.textContent ?? 'code'}`);
    };
    label('Copy');
    button.addEventListener('click', () => void copy(block, label));
    name?.after(button);
  }
}

async function copy(block: HTMLElement, label: (word: string) => void): Promise<void> {
  const shown = [...block.querySelectorAll('pre')].find((pre) => pre.checkVisibility());
  const isCopied = await write(shown?.textContent ?? '');
  label(isCopied ? 'Copied' : 'Select it manually');
  announce(isCopied ? 'Copied' : 'Copying was refused');
  setTimeout(label, CONFIRMED_MS, 'Copy');
}

/** Browsers allow the clipboard only on secure pages; over plain HTTP `execCommand` still works. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    return isDone;
  }
}

/** Tells screen readers, from one live region for the whole page. */
export function announce(words: string): void {
  let region = document.querySelector('#announcements');
  if (!region) {
    region = document.createElement('p');
    region.id = 'announcements';
    region.className = 'unseen';
    region.setAttribute('role', 'status');
    document.querySelector('main')?.append(region);
  }
  region.textContent = words;
}
