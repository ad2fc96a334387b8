import 'reflect-metadata';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import {
  Arg,
  buildSchema,
  Field,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  registerEnumType,
} from 'type-graphql';
import { Column, DataSource, Entity, MoreThan, PrimaryColumn } from 'typeorm';

/** The usual way: one class is both the table's row and the schema's type, and TypeORM's `find` reads it. */
enum PetStatus {
  available = 'available',
  pending = 'pending',
  sold = 'sold',
}
registerEnumType(PetStatus, { name: 'PetStatus' });

@ObjectType()
@Entity('pets')
class Pet {
  @PrimaryColumn({ type: 'bigint', name: 'project_id' }) projectId!: string;
  @Field(() => ID) @PrimaryColumn('bigint') id!: string;
  @Field(() => String) @Column('varchar') name!: string;
  @Field(() => ID) @Column({ type: 'bigint', name: 'category_id' }) categoryId!: string;
  @Field(() => PetStatus, { nullable: true })
  @Column('varchar', { nullable: true })
  status!: PetStatus | null;
  @Column({ type: 'bigint', name: 'created_at_ms' }) createdAtMs!: string;
}

@ObjectType()
class PageInfo {
  @Field(() => Boolean) hasNextPage!: boolean;
  @Field(() => String, { nullable: true }) endCursor!: string | null;
}

@ObjectType()
class PetConnection {
  @Field(() => [Pet]) nodes!: Pet[];
  @Field(() => PageInfo) pageInfo!: PageInfo;
}

const { DATABASE_URL: url = '', PROJECT_ID: projectId = '', PORT: port } = process.env;
const source = new DataSource({
  type: 'mysql',
  url,
  entities: [Pet],
  poolSize: 10,
  supportBigNumbers: true,
  bigNumberStrings: true,
});

@Resolver(() => Pet)
class PetResolver {
  @Query(() => PetConnection)
  async pets(
    @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Arg('after', () => String, { nullable: true }) after?: string | null,
  ): Promise<PetConnection> {
    const where = { projectId, ...(after ? { id: MoreThan(after) } : {}) };
    const rows = await source.getRepository(Pet).find({ where, order: { id: 'ASC' }, take: first + 1 });
    const nodes = rows.slice(0, first);
    return {
      nodes,
      pageInfo: { hasNextPage: rows.length > first, endCursor: nodes.at(-1)?.id ?? null },
    };
  }
}

await source.initialize();
const schema = await buildSchema({ resolvers: [PetResolver], validate: false });
const server = await startStandaloneServer(new ApolloServer({ schema }), {
  listen: { port: Number(port), host: '127.0.0.1' },
});
console.log(new URL(server.url).port);
