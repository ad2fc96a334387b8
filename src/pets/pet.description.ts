/** What texts, files and pages say about a pet. Plain data without imports: the build of `browser/` reads it too. */
export const PET = {
  singular: 'pet',
  plural: 'pets',
  type: 'Pet',
  fields: [
    { name: 'name', label: 'Name', kind: 'text', isRequired: true, maxLength: 255, example: 'Rex' },
    {
      name: 'categoryId',
      label: 'Category',
      kind: 'int64',
      isRequired: true,
      hint: 'The number of its category.',
      example: '3',
    },
    {
      name: 'status',
      label: 'Status',
      kind: 'choice',
      isRequired: false,
      choices: ['available', 'pending', 'sold'],
      example: 'available',
    },
  ],
} as const;
