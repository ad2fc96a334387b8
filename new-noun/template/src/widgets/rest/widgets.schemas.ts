import { LIST_ORDERS, type ObjectSchema, pageSizeSchema } from '../../ground/kernel/validation.js';
import { WIDGET } from '../widget.description.js';
import { newWidgetSchema, stateSchema } from '../widget.rules.js';

/** Fastify serializes with them, and the OpenAPI document shows them. */
export const widgetSchema = {
  type: 'object',
  description: 'A widget.',
  required: ['id', ...newWidgetSchema.required],
  properties: {
    id: { type: 'integer', format: 'int64', description: 'Assigned on creation.', examples: [4711] },
    ...newWidgetSchema.properties,
  },
} as const;

export const widgetsSchema = {
  type: 'array',
  description: 'A page of widgets.',
  items: widgetSchema,
} as const;

export const listQuerySchema = {
  type: 'object',
  properties: {
    limit: pageSizeSchema(WIDGET.plural),
    state: { ...stateSchema, description: 'Filters by state.' },
    order: {
      type: 'string',
      enum: LIST_ORDERS.map((order) => order.toLowerCase()),
      description: 'Which widgets come first.',
      rule: 'must be oldest or newest',
    },
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'Start of the page, from the `Link` header of the previous page.',
      rule: 'must be a cursor from a Link header of this list',
    },
  },
} as const satisfies ObjectSchema;
