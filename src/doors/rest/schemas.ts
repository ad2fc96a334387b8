const windowSchema = {
  type: 'object',
  required: ['limit', 'remaining', 'resetAtSeconds'],
  properties: {
    limit: { type: 'integer', description: 'Requests that the plan allows in the window.' },
    remaining: { type: 'integer', description: 'Requests left in the window.' },
    resetAtSeconds: { type: 'integer', description: 'Unix timestamp at which the next window begins.' },
  },
} as const;

export const rateLimitSchema = {
  type: 'object',
  description: "Both windows of the project's quota, and the ban state of the API key.",
  required: ['minute', 'day', 'ban'],
  properties: {
    minute: { ...windowSchema, description: 'The UTC minute.' },
    day: { ...windowSchema, description: 'The UTC day.' },
    ban: {
      type: 'object',
      description:
        'Strikes are requests made after a 429 and before its Retry-After; the tenth bans the key.',
      required: ['strikes', 'untilSeconds', 'nextStepMinutes'],
      properties: {
        strikes: { type: 'integer' },
        untilSeconds: {
          type: ['integer', 'null'],
          description: 'Unix timestamp of the end; null = not banned.',
        },
        nextStepMinutes: { type: 'integer', description: 'Length of the next ban.' },
      },
    },
  },
} as const;
