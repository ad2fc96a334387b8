/** The words of nouns, for the pages' scripts and the dashboard. `gateway.ts` has the nouns of this gateway. */
export * from '../src/noun-words.js';
export type * from '../src/nouns.js';
