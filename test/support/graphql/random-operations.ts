import fc, { type GeneratorValue } from 'fast-check';
import {
  type GraphQLInputField,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { argumentsOf, ECHOES } from './everything.js';

export interface RandomOperation {
  source: string;
  variables: Record<string, unknown>;
}

/** Literals of each scalar, in GraphQL and as a variable's value; the last value of each is a wrong one. */
const SCALARS: Record<string, { literals: string[]; values: unknown[] }> = {
  Int: { literals: ['1', '-5'], values: [2, 1.5] },
  Float: { literals: ['1', '2.5', '1e3'], values: [3, 0.25, 'x'] },
  String: { literals: ['"a"', '"é\\u2028\\""', '"""b"""'], values: ['', 'ü', 1] },
  ID: { literals: ['"x"', '4'], values: ['y', 5, 1.5] },
  Boolean: { literals: ['true', 'false'], values: [true, false, 'x'] },
  Moment: { literals: ['"2026-01-01T00:00:00Z"'], values: ['2025-01-01', 'x'] },
  Big: { literals: ['"90000000000000000000"', '4'], values: ['5', 'x'] },
};

/** An operation over `EVERYTHING`. Most are valid. */
export function randomOperation(pick: GeneratorValue): RandomOperation {
  const definitions: string[] = [];
  const variables: Record<string, unknown> = {};
  const one = <Value>(...values: readonly Value[]) => pick(fc.constantFrom, ...values) as Value;
  const chance = (percent: number) => pick(fc.nat, 99) < percent;

  const declare = (type: GraphQLInputType, hasDefault: boolean): string => {
    const name = `v${definitions.length}`;
    definitions.push('');
    const byDefault = chance(35) ? ` = ${literalOf(type, { mayVary: false })}` : '';
    const isRelaxed = isNonNullType(type) && (byDefault !== '' || hasDefault) && chance(70);
    const declared = isRelaxed ? type.ofType : type;
    definitions[Number(name.slice(1))] = `$${name}: ${declared}${byDefault}`;
    if (chance(70)) variables[name] = sentValueOf(declared);
    return `$${name}`;
  };

  const literalOf = (
    type: GraphQLInputType,
    { mayVary, hasDefault = false }: { mayVary: boolean; hasDefault?: boolean },
  ): string => {
    if (mayVary && chance(35)) return declare(type, hasDefault);
    if (isNonNullType(type)) return literalOf(type.ofType, { mayVary: false }).replace(/^null$/, '1');
    if (chance(10)) return 'null';
    const inside = { mayVary };
    if (isListType(type)) {
      if (chance(20)) return literalOf(type.ofType, inside);
      return `[${Array.from({ length: pick(fc.nat, 2) }, () => literalOf(type.ofType, inside))}]`;
    }
    if (isInputObjectType(type)) {
      const fields = fieldsIn(type.getFields(), type.isOneOf);
      const parts = fields.map(
        (field) =>
          `${field.name}: ${literalOf(field.type, { ...inside, hasDefault: field.defaultValue !== undefined })}`,
      );
      return `{${parts}}`;
    }
    if (isEnumType(type)) return one(...type.getValues()).name;
    return one(...(SCALARS[type.name]?.literals ?? []));
  };

  const sentValueOf = (type: GraphQLInputType): unknown => {
    if (isNonNullType(type)) return sentValueOf(type.ofType) ?? 1;
    if (chance(10)) return null;
    if (isListType(type)) {
      if (chance(20)) return sentValueOf(type.ofType);
      return Array.from({ length: pick(fc.nat, 2) }, () => sentValueOf(type.ofType));
    }
    if (isInputObjectType(type)) {
      const fields = fieldsIn(type.getFields(), type.isOneOf && !chance(30));
      return Object.fromEntries(fields.map((field) => [field.name, sentValueOf(field.type)]));
    }
    if (isEnumType(type)) return chance(10) ? 'x' : one(...type.getValues()).name;
    const values = SCALARS[type.name]?.values ?? [];
    return one(...(chance(10) ? values : values.slice(0, -1)));
  };

  const fieldsIn = (fields: Record<string, GraphQLInputField>, isOneOf: boolean) => {
    const all = Object.values(fields);
    return isOneOf ? [one(...all)] : all.filter(() => chance(40));
  };

  const directive = () => (chance(5) ? ` @${one('skip', 'include')}(if: ${declareFlag()})` : '');
  const declareFlag = () => {
    const name = `v${definitions.length}`;
    definitions.push(`$${name}: Boolean!`);
    variables[name] = chance(50);
    return `$${name}`;
  };

  const argumentsIn = (
    given: readonly { name: string; type: GraphQLInputType; defaultValue?: unknown }[],
  ) => {
    const texts = given
      .filter(() => chance(given.length > 2 ? 15 : 80))
      .map(({ name, type, defaultValue }) => {
        const hasDefault = defaultValue !== undefined;
        return `${name}: ${literalOf(type, { mayVary: true, hasDefault })}`;
      });
    return texts.length === 0 ? '' : `(${texts})`;
  };

  const selectionsOf = (depth: number): string => {
    const inside = () => (depth > 2 ? 'id' : selectionsOf(depth + 1));
    const parts = [
      'id',
      '__typename',
      'colour',
      `... on Cat { at big c${depth}: echo(int: ${depth}) }`,
      `... on Dog { things { ${inside()} } }`,
      `...Part`,
    ];
    const chosen = parts.filter((part) => chance(40) && (part !== '...Part' || depth < 2));
    return ['id', ...chosen].map((part) => part + (part.startsWith('...') ? '' : directive())).join(' ');
  };

  const rootField = (_: unknown, at: number): string => {
    const alias = `f${at}: `;
    if (chance(25)) return `${alias}things { ${selectionsOf(0)} }`;
    if (chance(10)) return `${alias}everything { ... on Thing { ${selectionsOf(0)} } }`;
    const name = one(...ECHOES);
    return `${alias}${name}${argumentsIn(argumentsOf(name))}${directive()}`;
  };

  const fields = Array.from({ length: 1 + pick(fc.nat, 3) }, rootField).join(' ');
  const head = definitions.length === 0 ? 'query' : `query (${definitions})`;
  const part = fields.includes('...Part') ? ' fragment Part on Thing { id colour ... on Dog { at } }' : '';
  return { source: `${head} { ${fields} }${part}`, variables };
}
