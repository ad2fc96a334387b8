/** The words of nouns, for the pages' scripts and the dashboard. What this gateway serves is in `gateway.ts`. */
export * from '../src/noun-words.js';
export type * from '../src/nouns.js';
