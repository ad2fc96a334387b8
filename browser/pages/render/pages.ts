import { capitalized, NOUN_WORDS } from '../../nouns.js';
import type { Recipes } from '../reference/recipes.js';
import { withoutAddress, withoutServers } from '../reference/render/openapi.js';
import { referenceOf } from '../reference/render/reference.js';
import { homePage } from './home-page.js';
import type { Manifest, Site } from './layout.js';
import { graphiqlPage, notFoundPage, sandboxPage } from './tool-pages.js';

interface Sources {
  manifest: Manifest;
  /** The text of `schema/openapi.json`. */
  contract: string;
  /** The text of `schema/postman.json`. */
  postman: string;
  /** The texts of `reference/guides/*.md`, by name. */
  guides: Readonly<Record<string, string>>;
  recipes: Recipes;
}

/**
 * The text of each HTML page by its path, the index of the search, and the files for tools. Most pages exist twice: for
 * the hosts of the platform, and for those of all projects.
 */
export function renderPages({
  manifest,
  contract,
  postman,
  guides,
  recipes,
}: Sources): Record<string, string> {
  const reference = referenceOf(contract, guides, recipes);
  const pagesFor = (folder: string, site: Site) => {
    const ofReference = reference.pages.map((page) => [
      `${folder}${page.path}.html`,
      reference.textOf(page, site),
    ]);
    return {
      [`${folder}/graphiql.html`]: graphiqlPage(site),
      [`${folder}/sandbox.html`]: sandboxPage(site),
      [`${folder}/not-found.html`]: notFoundPage(site),
      [`${folder}/docs-not-found.html`]: reference.notFoundText(site),
      ...Object.fromEntries(ofReference),
    };
  };
  const platform = { manifest, isProject: false, name: 'Petstore Gateway' };
  return {
    'platform/home.html': homePage(platform, reference.origin),
    ...pagesFor('platform', platform),
    ...pagesFor('project', { manifest, isProject: true, name: `${capitalized(NOUN_WORDS)} API` }),
    'search.json': JSON.stringify(reference.searchIndex()),
    'openapi.json': withoutServers(contract),
    'postman.json': withoutAddress(postman),
  };
}
