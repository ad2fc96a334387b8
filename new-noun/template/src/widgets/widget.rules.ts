import { RecordRules } from '../ground/kernel/record-rules.js';
import { NAME, type ObjectSchema } from '../ground/kernel/validation.js';
import { WIDGET_STATES } from './widget.description.js';
import type { WidgetState } from './widget.entity.js';

export interface NewWidget {
  name: string;
  state: WidgetState | null;
}

export type WidgetChanges = Partial<NewWidget>;

const MAX_NAME = 200;

export const stateSchema = {
  type: 'string',
  enum: WIDGET_STATES,
  description: 'The state of the widget.',
  examples: ['active'],
  rule: `must be one of ${WIDGET_STATES.join(', ')}`,
} as const;

/** The schema of a new widget, for both doors and the published documents. */
export const newWidgetSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: {
      ...NAME,
      maxLength: MAX_NAME,
      description: 'The name of the widget. It must not be only blanks, nor contain NUL or a lone surrogate.',
      examples: ['First widget'],
      rule: `must be text of 1 to ${MAX_NAME} characters, not only blanks`,
    },
    state: stateSchema,
  },
} as const satisfies ObjectSchema;

/** The rules of both doors and of files. */
export const WIDGET_RULES = new RecordRules<NewWidget>(newWidgetSchema);
