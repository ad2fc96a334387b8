import { type GatewayBlock, joined, scopesOf } from './nouns.js';

const block = document.getElementById('gateway');
if (!block) throw new Error('The page does not say what its gateway serves.');

/** The gateway that sent the page: the same files serve every one. D-278. */
export const {
  name: GATEWAY_NAME,
  nouns: NOUNS,
  icon: OWN_ICON,
}: GatewayBlock = JSON.parse(block.textContent ?? '');

for (const { reference } of NOUNS.flatMap(({ fields }) => fields)) {
  if (reference) Object.assign(reference, { to: NOUNS.find(({ singular }) => singular === reference.noun) });
}

/** The noun of examples that need only one. */
export const [FIRST_NOUN] = NOUNS;

/** As in `Requests for books`; several nouns are joined by `and`. */
export const NOUN_WORDS = joined(NOUNS);

export const SCOPES = scopesOf(NOUNS);
