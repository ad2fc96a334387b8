#!/usr/bin/env bash
# graphql-scalars 2.0.0, PositiveInt and NonNegativeInt: a variable that is no integer is cut to one, and executed.
# Guess beforehand: 1.9 and "1e3" are refused, as GraphQL's own Int refuses them.
# Seen: a variable of 1.9 arrives as 1, and "1e3" as 1. Int answers with an error for both.
# Fails if this changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund graphql@16.12.0 graphql-scalars@2.0.0
cat > show.cjs <<'JS'
const { graphql, GraphQLInt, GraphQLObjectType, GraphQLSchema } = require('graphql');
const { PositiveIntResolver, NonNegativeIntResolver } = require('graphql-scalars');
async function main() {
  for (const type of [GraphQLInt, PositiveIntResolver, NonNegativeIntResolver]) {
    const field = { type: GraphQLInt, args: { count: { type } }, resolve: (_, { count }) => count };
    const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { field } }) });
    for (const count of [1.9, '1e3']) {
      const source = `query ($count: ${type}) { field(count: $count) }`;
      const { data, errors } = await graphql({ schema, source, variableValues: { count } });
      console.log(`${type} ${JSON.stringify(count)}: ${errors ? 'refused' : data.field}`);
    }
  }
}
main();
JS
node show.cjs 2> /dev/null | tee seen
[[ $(grep -c '^Int .*refused' seen) == 2 && $(grep -c 'Int .*: 1$' seen) == 4 ]]
