import { BOOKS } from '../support/nouns/books.js';
import gateway from '../support/nouns/three-nouns.js';
import { suitesOn } from './suites.js';

suitesOn(gateway, BOOKS);
