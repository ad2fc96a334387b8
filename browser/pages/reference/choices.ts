const NAME = 'petstore.language';

/** Blocks of code in the same languages show the same one, on this page and on the next. */
export function followChoices(): void {
  const blocks = [...document.querySelectorAll<HTMLElement>('[data-group="language"]')];
  choose(blocks, localStorage.getItem(NAME));
  for (const block of blocks) {
    block.addEventListener('change', ({ target }) => {
      const { value } = target as HTMLInputElement;
      localStorage.setItem(NAME, value);
      choose(blocks, value);
    });
  }
}

/** A block that lacks the language stays as it is. */
function choose(blocks: readonly HTMLElement[], language: string | null): void {
  for (const block of blocks) {
    for (const option of block.querySelectorAll<HTMLInputElement>('input')) {
      if (option.value === language) option.checked = true;
    }
  }
}
