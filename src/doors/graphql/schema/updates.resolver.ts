import { Arg, Ctx, Resolver, Subscription } from 'type-graphql';
import type { ProjectSignals } from '../../../ground/records/project-signals.js';
import { ProjectUpdates, type Update, type UpdateKind } from '../../../request/streams/project-updates.js';
import { type Context, serviceCallOf } from '../execution/context.js';
import { BY_SOURCE, StreamSource } from '../execution/subscription-fields.js';
import { describedEnum, inCapitals } from '../operations/type-options.js';

const UpdateKindEnum = describedEnum<UpdateKind>(
  'UpdateKind',
  'What may have changed.',
  {
    requests: "The project's request log. Needs the scope `keys`.",
    domains:
      'A domain of the project: its status, findings, certificate or timeline. Needs the scope `domains`.',
  },
  inCapitals,
);

@Resolver()
export class UpdatesResolver {
  constructor(private readonly signals: ProjectSignals) {}

  @Subscription(() => UpdateKindEnum, {
    ...BY_SOURCE,
    name: 'updates',
    description:
      'Says that something of a kind may have changed, so that a client reads it again then instead of at intervals. Begins with each kind, and has each at most once a second. A read with the header `Apollographql-Client-Name: dashboard` is no update, so that a client can read what it follows.',
  })
  async followUpdates(
    @Ctx() context: Context,
    @Arg('of', () => [UpdateKindEnum], { description: 'What to follow.' }) kinds: UpdateKind[],
  ): Promise<StreamSource<Update>> {
    const updates = new ProjectUpdates(this.signals, serviceCallOf(context), kinds);
    return new StreamSource(updates, ({ kind }) => kind);
  }
}
