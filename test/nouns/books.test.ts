import { BOOKS } from '../support/nouns/books.js';
import gateway from '../support/nouns/three-nouns.js';
import { nounSuites } from './suites.js';

nounSuites(BOOKS, gateway);
