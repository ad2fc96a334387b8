import { type RestDocument, usualDocument } from '../../doors/rest/rest-document.js';
import { BOOK } from '../book.description.js';
import { newBookSchema } from '../book.rules.js';
import { bookSchema, listQuerySchema } from './books.schemas.js';

/** The operations as the OpenAPI document shows them. */
export const BOOKS_DOCUMENT: RestDocument = usualDocument({
  noun: BOOK,
  listQuery: listQuerySchema,
  newSchema: newBookSchema,
  schema: bookSchema,
});
