/** What texts, files and pages say about a widget. Plain data without imports: the build of `browser/` reads it too. */
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
      withArticle: 'a name',
      kind: 'text',
      isRequired: true,
      maxLength: 200,
      example: 'First widget',
    },
    {
      name: 'state',
      label: 'State',
      withArticle: 'a state',
      kind: 'choice',
      isRequired: false,
      choices: ['draft', 'active', 'archived'],
      tones: ['busy', 'good', 'idle'],
      example: 'active',
    },
  ],
  filters: [{ argument: 'state', field: 'state', match: 'whole' }],
  hasCount: false,
  examples: [
    {
      task: 'List widgets',
      query: `query ListWidgets($state: WidgetState, $after: String) {
  widgets(first: 10, state: $state, after: $after) {
    nodes { id name state }
    pageInfo { hasNextPage endCursor }
  }
}
`,
      variables: { state: 'active', after: null },
    },
    {
      task: 'Add a widget',
      query: `mutation AddWidget($widget: NewWidget!) {
  createWidget(input: $widget) { id name state }
}
`,
      variables: { widget: { name: 'First widget', state: 'draft' } },
    },
    {
      task: 'Change a widget',
      query: `mutation ChangeWidget($id: ID!, $changes: WidgetChanges!) {
  updateWidget(id: $id, input: $changes) { id name state }
}
`,
      variables: { id: '<id of a widget>', changes: { state: 'archived' } },
    },
  ],
} as const;
