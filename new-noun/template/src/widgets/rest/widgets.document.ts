import { type RestDocument, usualDocument } from '../../doors/rest/rest-document.js';
import { WIDGET } from '../widget.description.js';
import { newWidgetSchema } from '../widget.rules.js';
import { listQuerySchema, widgetSchema } from './widgets.schemas.js';

/** The operations as the OpenAPI document shows them. */
export const WIDGETS_DOCUMENT: RestDocument = usualDocument({
  noun: WIDGET,
  listQuery: listQuerySchema,
  newSchema: newWidgetSchema,
  schema: widgetSchema,
});
