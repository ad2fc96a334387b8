import { type Language, type Token, tokensOf } from '../../shown/highlight.js';
import { type Html, html } from './html.js';

export interface Code {
  /** The choice that shows it, such as `Python` or `404`. */
  label: string;
  language: Language;
  text: string;
  /** The meaning of the choice, above its text. */
  note?: string;
}

/** So many characters of labels fit beside the name of a block. */
const FITTING = 24;

/** A block of code with a name. A script adds a button that copies it. */
export function codeBlock({ label, language, text }: Code): Html {
  return html`<figure class="code">
<figcaption class="code-name">${label}</figcaption>
${listing(text, language, label)}
</figure>
`;
}

/**
 * Code in several languages, or several answers, of which the reader chooses one. Radio buttons choose, so that it works
 * without a script. `id` is unique on the page; blocks with the same `group` follow each other's choice.
 */
export function codeChoice(id: string, name: string, options: readonly Code[], group = id): Html {
  const isLong = options.reduce((sum, { label }) => sum + label.length, 0) > FITTING;
  return html`<div class="code code-choice${isLong && ' code-long'}" role="radiogroup" aria-labelledby="${id}-name" data-group="${group}">
<span class="code-name" id="${id}-name">${name}</span>
${options.map(
  (
    { label, language, text, note },
    index,
  ) => html`<input type="radio" class="unseen" id="${id}-${index}" name="${id}" value="${label}"${
    index === 0 && html` checked`
  }><label for="${id}-${index}">${label}</label>
<div class="code-panel">${note !== undefined && html`<p class="code-note">${note}</p>\n`}${listing(text, language, `${name}: ${label}`)}</div>
`,
)}</div>
`;
}

function listing(text: string, language: Language, name: string): Html {
  // The listing must be scrollable without a mouse.
  return html`<pre class="lang-${language}" tabindex="0" role="region" aria-label="${name}"><code>${tokensOf(text, language).map(token)}</code></pre>`;
}

function token([kind, text]: Token): Html {
  return kind === null ? html`${text}` : html`<span class="t-${kind}">${text}</span>`;
}
