import { Field, ObjectType } from 'type-graphql';
import { PLAIN } from '../../execution/plain.js';

@ObjectType('PageInfo', {
  description: 'The position of a page in its list, as in Relay connections.',
  ...PLAIN,
})
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether more entries follow.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether the page was requested with `after`.' })
  hasPreviousPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the first entry; null on an empty page.',
  })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last entry, for `after`; null on an empty page.',
  })
  endCursor!: string | null;
}
