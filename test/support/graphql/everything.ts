import { inspect } from 'node:util';
import {
  type GraphQLArgument,
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  Kind,
} from 'graphql';

const required = <Type extends ConstructorParameters<typeof GraphQLNonNull>[0]>(type: Type) =>
  new GraphQLNonNull(type);
const listOf = <Type extends ConstructorParameters<typeof GraphQLList>[0]>(type: Type) =>
  new GraphQLList(type);

/** A time whose value inside is a `Date`. */
const Moment = new GraphQLScalarType<Date, string>({
  name: 'Moment',
  serialize: (value) => (value as Date).toISOString(),
  parseValue: (value) => momentOf(value),
  parseLiteral: (node) => momentOf(node.kind === Kind.STRING ? node.value : null),
});

function momentOf(text: unknown): Date {
  if (typeof text !== 'string' || Number.isNaN(Date.parse(text))) throw new TypeError('no time');
  return new Date(text);
}

/** Its value inside is a bigint, which JSON cannot write. */
const Big = new GraphQLScalarType<bigint, string>({
  name: 'Big',
  serialize: String,
  parseValue: (value) => BigInt(value as string),
  parseLiteral: (node) => BigInt(node.kind === Kind.INT || node.kind === Kind.STRING ? node.value : ''),
});

const Colour = new GraphQLEnumType({
  name: 'Colour',
  values: { RED: { value: 'red' }, BLUE: { value: 'blue' } },
});
/** JSON keeps none of its values. */
const Shape = new GraphQLEnumType({
  name: 'Shape',
  values: { ROUND: { value: new Date(0) }, FLAT: { value: Symbol.for('flat') }, NONE: { value: undefined } },
});
/** JSON keeps their values, but not as strings. */
const Level = new GraphQLEnumType({ name: 'Level', values: { LOW: { value: 1 }, HIGH: { value: 2 } } });

const Choice = new GraphQLInputObjectType({
  name: 'Choice',
  isOneOf: true,
  fields: { int: { type: GraphQLInt }, text: { type: GraphQLString }, moment: { type: Moment } },
});
const Inner = new GraphQLInputObjectType({
  name: 'Inner',
  fields: { since: { type: Moment, defaultValue: new Date(1) }, int: { type: GraphQLInt, defaultValue: 9 } },
});
const Filter = new GraphQLInputObjectType({
  name: 'Filter',
  fields: {
    first: { type: GraphQLInt, defaultValue: 7 },
    need: { type: required(GraphQLInt), defaultValue: 8 },
    since: { type: Moment, defaultValue: new Date(86_400_000) },
    colours: { type: listOf(required(Colour)), defaultValue: ['red'] },
    choice: { type: Choice },
    inner: { type: Inner },
    text: { type: GraphQLString },
  },
});

/** Arguments of every kind. */
const ARGUMENTS: GraphQLFieldConfigArgumentMap = {
  int: { type: GraphQLInt },
  intByDefault: { type: required(GraphQLInt), defaultValue: 3 },
  float: { type: GraphQLFloat, defaultValue: 1.5 },
  text: { type: GraphQLString },
  textByDefault: { type: GraphQLString, defaultValue: 'a\u2028"\\' },
  id: { type: GraphQLID },
  flag: { type: GraphQLBoolean, defaultValue: false },
  colour: { type: Colour, defaultValue: 'blue' },
  level: { type: Level },
  shape: { type: Shape },
  moment: { type: Moment },
  big: { type: Big },
  ids: { type: listOf(GraphQLID) },
  ints: { type: listOf(required(GraphQLInt)) },
  matrix: { type: listOf(listOf(GraphQLInt)) },
  colours: { type: listOf(Colour) },
  moments: { type: listOf(Moment) },
  filter: { type: Filter },
  filters: { type: listOf(required(Filter)) },
  choice: { type: Choice },
};

/** Shows its arguments as its resolver gets them, with their types inside. */
const echo = { type: GraphQLString, resolve: (_: unknown, given: object) => shown(given) };
const shown = (value: object) => inspect(value, { depth: 9, sorted: true, breakLength: Infinity });

const Thing: GraphQLInterfaceType = new GraphQLInterfaceType({
  name: 'Thing',
  fields: () => ({ id: { type: required(GraphQLID) }, colour: { type: Colour } }),
  resolveType: (value: { kind: string }) => value.kind,
});

const objectOf = (name: string) =>
  new GraphQLObjectType({
    name,
    interfaces: [Thing],
    fields: () => ({
      id: { type: required(GraphQLID) },
      colour: { type: Colour },
      at: { type: Moment },
      big: { type: Big },
      echo: {
        ...echo,
        args: { int: ARGUMENTS.int, moment: ARGUMENTS.moment } as GraphQLFieldConfigArgumentMap,
      },
      things: { type: required(listOf(Thing)), resolve: () => THINGS },
    }),
  });
const Cat = objectOf('Cat');
const Dog = objectOf('Dog');
const THINGS = [
  { kind: 'Cat', id: 1, colour: 'red', at: new Date(1), big: 2n ** 60n },
  null,
  { kind: 'Dog', id: 'b', colour: null, at: null, big: null },
];

const Everything = new GraphQLUnionType({
  name: 'Everything',
  types: [Cat, Dog],
  resolveType: (value) => value.kind,
});

const query = new GraphQLObjectType({
  name: 'Query',
  fields: {
    // A field for each argument: most operations use few of them.
    ...Object.fromEntries(
      Object.entries(ARGUMENTS).map(([name, type]) => [name, { ...echo, args: { [name]: type } }]),
    ),
    all: { ...echo, args: ARGUMENTS },
    dated: { ...echo, args: { since: { type: Moment, defaultValue: new Date(5) } } },
    things: {
      type: listOf(Thing),
      args: { first: { type: GraphQLInt, defaultValue: 2 } },
      resolve: () => THINGS,
    },
    everything: { type: required(listOf(Everything)), resolve: async () => THINGS },
  },
});

/** A schema with every kind of type, argument and default. */
export const EVERYTHING = new GraphQLSchema({ query, types: [Cat, Dog] });

export const argumentsOf = (field: string): readonly GraphQLArgument[] =>
  query.getFields()[field]?.args ?? [];
export const ECHOES = [...Object.keys(ARGUMENTS), 'all', 'dated'];
