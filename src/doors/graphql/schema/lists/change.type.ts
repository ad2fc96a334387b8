import { Field } from 'type-graphql';
import type { ChangeKind } from '../../../../ground/records/change-log.entity.js';
import type { Change, ChangePage, ChangeStream } from '../../../../ground/records/noun-changes.js';
import type { NounDescription } from '../../../../nouns.js';
import { StreamSource } from '../../execution/subscription-fields.js';
import {
  COUNTED_BY_FIRST,
  describedEnum,
  Entries,
  inCapitals,
  PlainType,
  TimeField,
} from '../../operations/type-options.js';
import { PageInfoType } from './page.js';

const ChangeKindEnum = describedEnum<ChangeKind>(
  'ChangeKind',
  'The kind of a change.',
  { created: 'It was added.', updated: 'At least one value was changed.', deleted: 'It was deleted.' },
  inCapitals,
);

/** The types of a noun's changes: `BookChange` with a field `book`, and `BookChangeConnection`. */
export function changeTypes<Row, Type extends object>(
  { type, singular, plural, withArticle }: NounDescription,
  RecordType: new () => Type,
  present: (record: Row) => Type,
) {
  @PlainType(`${type}Change`, `A change of ${withArticle}.`)
  class ChangeType {
    @Field(() => String, { description: 'The position in the change log behind this change, for `after`.' })
    cursor!: string;

    @Field(() => ChangeKindEnum, { description: 'What happened.' })
    kind!: ChangeKind;

    @TimeField('When it happened. The order of the changes is that of their cursors.')
    atMs!: number;

    @Field(() => RecordType, {
      name: singular,
      description: `The ${singular} after the change; a deleted one as it was.`,
      simple: false,
    })
    record!: Type;
  }

  @PlainType(`${type}ChangeConnection`, `Changes of ${plural}, in the order of their commits.`)
  class ConnectionType {
    @Entries(COUNTED_BY_FIRST)
    @Field(() => [ChangeType], { description: 'The changes.' })
    nodes!: ChangeType[];

    @Field(() => PageInfoType, {
      description:
        'The position of the page. `endCursor` is behind everything that was examined, also on a page without changes.',
    })
    pageInfo!: PageInfoType;
  }

  const presentChange = (change: Change<Row>): ChangeType => ({ ...change, record: present(change.record) });
  return {
    ChangeType,
    ConnectionType,
    presentPage: ({ changes, endCursor, hasNextPage }: ChangePage<Row>, hasPreviousPage: boolean) => ({
      nodes: changes.map(presentChange),
      pageInfo: { hasNextPage, hasPreviousPage, startCursor: changes[0]?.cursor ?? null, endCursor },
    }),
    /** The source of a subscription. */
    presentStream: (stream: ChangeStream<Row>) => new StreamSource(stream, presentChange),
  };
}
