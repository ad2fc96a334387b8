import { capitalized, type GatewayDescription, joined } from '../../../noun-words.js';
import { ownNames } from '../../../request/http/headers.js';
import { homePage } from './home-page.js';
import type { Manifest, Site } from './markup/layout.js';
import { readContract, SAMPLE_ORIGIN } from './reference/contract.js';
import { readTexts } from './reference/guide-texts.js';
import { referenceOf } from './reference/reference.js';
import { searchIndex } from './reference/search-index.js';
import { graphiqlPage, notFoundPage, sandboxPage } from './tool-pages.js';

/**
 * Renders each HTML page by its path, and the index of the search. Most pages exist twice: for the hosts of the platform, and
 * for those of all projects. `contractText` is the OpenAPI document. D-278.
 */
export async function allPages(
  { name, slug, nouns }: GatewayDescription,
  brand: Site['brand'],
  manifest: Manifest,
  contractText: string,
): Promise<ReadonlyMap<string, () => string>> {
  const contract = readContract(contractText, nouns, ownNames(slug));
  const reference = referenceOf(contract, await readTexts());
  const pagesFor = (folder: string, site: Site): [path: string, render: () => string][] => [
    [`${folder}/graphiql.html`, () => graphiqlPage(site)],
    [`${folder}/sandbox.html`, () => sandboxPage(site)],
    [`${folder}/not-found.html`, () => notFoundPage(site)],
    [`${folder}/docs-not-found.html`, () => reference.notFoundText(site)],
    ...reference.pages.map((page): [string, () => string] => [
      `${folder}${page.path}.html`,
      () => reference.textOf(page, site),
    ]),
  ];
  const platform = { name, nouns, brand, manifest, isProject: false };
  return new Map([
    ['platform/home.html', () => homePage(platform, SAMPLE_ORIGIN)],
    ...pagesFor('platform', platform),
    ...pagesFor('project', { ...platform, isProject: true, name: `${capitalized(joined(nouns))} API` }),
    ['search.json', () => JSON.stringify(searchIndex(reference.pages))],
  ]);
}
