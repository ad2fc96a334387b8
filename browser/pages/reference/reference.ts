import './reference.css';
import { addCopyButtons } from '../copy-code.js';
import { startSignIn } from '../sign-in.js';
import { showSite } from '../site.js';
import { startSearch } from './search.js';
import { enableForm } from './try.js';

const LANGUAGE = 'petstore.language';

showSite();
addCopyButtons();
followChoices();
startSearch();
startSignIn();
enableForm();

/** Blocks of code in the same languages show the same one, on this page and on the next. */
function followChoices(): void {
  const blocks = [...document.querySelectorAll<HTMLElement>('[data-group="language"]')];
  choose(blocks, localStorage.getItem(LANGUAGE));
  for (const block of blocks) {
    block.addEventListener('change', ({ target }) => {
      const { value } = target as HTMLInputElement;
      localStorage.setItem(LANGUAGE, value);
      choose(blocks, value);
    });
  }
}

/** A block that lacks the language stays as it is. */
function choose(blocks: readonly HTMLElement[], language: string | null): void {
  for (const option of blocks.flatMap((block) => [...block.querySelectorAll('input')])) {
    if (option.value === language) option.checked = true;
  }
}
