import { Query, Resolver } from 'type-graphql';

@Resolver()
class Misspelt {
  @Query(() => String, { description: 'The first of {{itmes}}.' })
  misspelt(): string {
    return '';
  }
}

export const resolver = Misspelt;
