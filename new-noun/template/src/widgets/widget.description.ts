export const WIDGET_STATES = ['draft', 'active', 'archived'] as const;

/** The words about a widget in texts, files and pages. Plain data without imports: the build of `browser/` reads it too. */
export const WIDGET = {
  singular: 'widget',
  plural: 'widgets',
  type: 'Widget',
  withArticle: 'a widget',
  headline: 'A typed, metered API in front of your widgets',
  fields: [
    {
      name: 'name',
      label: 'Name',
      kind: 'text',
      isRequired: true,
      maxLength: 200,
      example: 'First widget',
    },
    {
      name: 'state',
      label: 'State',
      kind: 'choice',
      isRequired: false,
      choices: WIDGET_STATES,
      tones: ['busy', 'good', 'idle'],
      example: 'active',
    },
  ],
  filters: [{ argument: 'state', field: 'state', match: 'whole' }],
  hasCount: false,
} as const;
