import { READ_HEADERS, type RestDocument } from '../../doors/rest/rest-document.js';
import { IGNORED_PARAMETERS, REPLAYED } from '../../request/http/headers.js';
import { newWidgetSchema, stateSchema } from '../widget.rules.js';
import { pageSizeSchema } from '../widget-list.js';
import { listQuerySchema, widgetSchema, widgetsSchema } from './widgets.schemas.js';

const WIDGET_HEADERS = [IGNORED_PARAMETERS, ...READ_HEADERS];
const LIST_HEADERS = ['Link', ...WIDGET_HEADERS];
const smallest = { name: 'Second widget' };
const whole = { name: 'First widget', state: 'active' };

/** The operations as the OpenAPI document shows them. */
export const WIDGETS_DOCUMENT: RestDocument = {
  summary: 'Browse and manage widgets.',
  tag: { name: 'widgets', description: 'Widgets of the project that the API key belongs to.' },
  paths: {
    '/widgets': {
      get: {
        operationId: 'listWidgets',
        summary: 'List all widgets',
        description: 'A page of widgets, oldest first unless `order` says otherwise.',
        scope: 'widgets:read',
        parameters: Object.entries(listQuerySchema.properties).map(([name, { description, ...schema }]) => ({
          ...{ name, in: 'query', required: false, description, schema },
        })),
        answers: {
          200: { description: 'A page of widgets.', headers: LIST_HEADERS, schema: 'Widgets' },
          304: { description: 'Not modified: the client has this page.', headers: LIST_HEADERS },
        },
      },
      post: {
        operationId: 'createWidget',
        summary: 'Add a widget',
        description:
          'With an `Idempotency-Key` the request can be repeated: only the first one creates a widget.',
        scope: 'widgets:write',
        parameters: [],
        creates: 'NewWidget',
        answers: {
          201: {
            description: 'The created widget with its assigned `id`.',
            headers: ['Location', REPLAYED, IGNORED_PARAMETERS],
            schema: 'Widget',
          },
        },
      },
    },
    '/widgets/{widgetId}': {
      get: {
        operationId: 'getWidget',
        summary: 'Get a widget',
        description: 'A widget of the project.',
        scope: 'widgets:read',
        parameters: [
          {
            ...{ name: 'widgetId', in: 'path', required: true, description: 'The identifier of the widget.' },
            schema: { type: 'integer', format: 'int64', examples: [4711] },
          },
        ],
        answers: {
          200: { description: 'The widget.', headers: WIDGET_HEADERS, schema: 'Widget' },
          304: { description: 'Not modified: the client has this widget.', headers: WIDGET_HEADERS },
        },
        errors: ['not_found'],
      },
    },
  },
  schemas: {
    NewWidget: { description: 'A widget to create.', ...newWidgetSchema },
    Widget: widgetSchema,
    Widgets: { ...widgetsSchema, items: { $ref: '#/components/schemas/Widget' } },
  },
  examples: {
    NewWidget: {
      widget: { summary: 'With every field', value: whole },
      smallest: { summary: 'With the required fields only', value: smallest },
    },
    Widget: { widget: { summary: 'A widget', value: { id: 4711, ...whole } } },
    Widgets: {
      page: {
        summary: 'A page of two widgets',
        value: [
          { id: 4711, ...whole },
          { id: 4712, ...smallest },
        ],
      },
      empty: { summary: 'No widget matches', value: [] },
    },
  },
  refusals: {
    listWidgets: {
      invalid_request: [
        { field: 'limit', message: pageSizeSchema.rule },
        { field: 'state', message: stateSchema.rule },
      ],
    },
    createWidget: {
      invalid_request: [
        { field: 'name', message: newWidgetSchema.properties.name.rule },
        { field: 'state', message: stateSchema.rule },
      ],
      forbidden: 'This API key lacks the scope widgets:write. Use a key that has it.',
    },
  },
};
