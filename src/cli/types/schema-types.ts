import { child, children, DocumentProblem, items, type Node, textAt } from './document.js';

/** Where a value has 64-bit integers; undefined = nowhere. As `Shape` of the client. */
export type Shape = string | readonly [Shape] | { readonly [property: string]: Shape };

/** A schema in TypeScript. */
export interface Typed {
  readonly type: string;
  readonly shape: Shape | undefined;
}

/** They say nothing about the type of a value. */
const ANNOTATIONS = new Set([
  ...[
    'title',
    'description',
    'default',
    'example',
    'examples',
    'deprecated',
    'externalDocs',
    'xml',
    '$comment',
  ],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...[
    'minLength',
    'maxLength',
    'pattern',
    'minItems',
    'maxItems',
    'uniqueItems',
    'minProperties',
    'maxProperties',
  ],
]);
const KEYWORDS = new Set([
  ...['$ref', 'type', 'format', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items'],
  ...['anyOf', 'oneOf', 'allOf'],
]);
const COMBINED = ['anyOf', 'oneOf', 'allOf'] as const;
/** Of a number or an integer. Another one may have values that a JavaScript number cannot hold. */
const NUMBER_FORMATS = [undefined, 'int32', 'int64', 'float', 'double'];
const NOTHING: Typed = { type: 'unknown', shape: undefined };

/** The type of a schema. Throws `DocumentProblem` for a keyword or a value that it does not know. `nameOf` names the type of a `$ref`. */
export function typeOf(schema: Node, nameOf: (target: string, at: string) => string): Typed {
  const { value, at } = schema;
  const of = (node: Node) => typeOf(node, nameOf);
  const unknown = Object.keys(value).find(
    (key) => !ANNOTATIONS.has(key) && !KEYWORDS.has(key) && !/^x-/.test(key),
  );
  if (unknown !== undefined) throw new DocumentProblem(at, `the keyword ${unknown}, which has no type here,`);
  const structural = Object.keys(value).filter((key) => KEYWORDS.has(key));
  const [combined] = COMBINED.filter((key) => value[key] !== undefined);
  const alone = value.$ref === undefined ? combined : '$ref';
  if (alone !== undefined && structural.length > 1) {
    throw new DocumentProblem(at, `${structural.join(' and ')} in one schema, which has no type here,`);
  }
  if (value.$ref !== undefined) {
    const name = nameOf(String(value.$ref), at);
    return { type: name, shape: name };
  }
  if (combined) return union(items(schema, combined).map(of), combined === 'allOf' ? ' & ' : ' | ', at);
  if (value.const !== undefined || value.enum !== undefined) return literals(schema);
  const types = value.type === undefined ? [] : [value.type].flat();
  if (types.length === 0) {
    if (structural.length > 0) throw new DocumentProblem(at, 'no type');
    return NOTHING;
  }
  return union(
    types.map((type) => ofType(String(type), schema, of)),
    ' | ',
    at,
  );
}

function ofType(type: string, schema: Node, of: (node: Node) => Typed): Typed {
  const { value, at } = schema;
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return { type, shape: undefined };
    case 'integer':
    case 'number': {
      const format = value.format as string | undefined;
      const isInt64 = format === 'int64';
      if (!NUMBER_FORMATS.includes(format) || (isInt64 && type === 'number'))
        throw new DocumentProblem(at, `the format ${format} of a number, which has no type here,`);
      return isInt64 ? { type: 'bigint', shape: 'int64' } : { type: 'number', shape: undefined };
    }
    case 'array': {
      if (value.items === undefined) return { type: 'unknown[]', shape: undefined };
      const item = of(child(schema, 'items'));
      return { type: `${enclosed(item.type)}[]`, shape: item.shape && [item.shape] };
    }
    case 'object':
      return objectType(schema, of);
    default:
      throw new DocumentProblem(at, `the type ${type}, which is unknown,`);
  }
}

function objectType(schema: Node, of: (node: Node) => Typed): Typed {
  const { value, at } = schema;
  const required = new Set(Array.isArray(value.required) ? value.required : []);
  const properties = children(schema, 'properties').map(([name, node]) => ({ name, node, ...of(node) }));
  if (properties.some(({ name }) => name === '*'))
    throw new DocumentProblem(at, 'a property with the name *');
  const more =
    typeof value.additionalProperties === 'object' ? of(child(schema, 'additionalProperties')) : undefined;
  const lines = properties.map(({ name, type, node }) => {
    return `${comment(node)}${propertyName(name)}${required.has(name) ? '' : '?'}: ${type};`;
  });
  // Beside named properties an index signature would have to fit them all.
  if (more && properties.length > 0) throw new DocumentProblem(at, 'properties beside additionalProperties');
  if (properties.length === 0) lines.push(`[name: string]: ${more?.type ?? 'unknown'};`);
  const places = properties.flatMap(({ name, shape }) => (shape ? [[name, shape] as const] : []));
  if (more?.shape) places.push(['*', more.shape]);
  return {
    type: `{\n${lines.join('\n')}\n}`,
    shape: places.length > 0 ? Object.fromEntries(places) : undefined,
  };
}

/** A 64-bit literal would be read as a rounded number, so its type is the wider one. */
function literals(schema: Node): Typed {
  const { value, at } = schema;
  if (value.format === 'int64')
    return { type: value.type === 'integer' ? 'bigint' : orFail(at), shape: 'int64' };
  const values = value.const === undefined ? value.enum : [value.const];
  if (!Array.isArray(values) || values.some((each) => typeof each === 'object' && each !== null)) orFail(at);
  return { type: (values as unknown[]).map((each) => JSON.stringify(each)).join(' | '), shape: undefined };
}

function orFail(at: string): never {
  throw new DocumentProblem(at, 'an enum or const that has no type here');
}

/** Several types of which only one has 64-bit integers, or of which all have them at the same places. */
function union(typed: readonly Typed[], joint: ' | ' | ' & ', at: string): Typed {
  const [first] = typed;
  if (!first) throw new DocumentProblem(at, 'no type');
  if (typed.length === 1) return first;
  const shapes = new Set(
    typed.filter(({ type }) => type !== 'null').map(({ shape }) => JSON.stringify(shape ?? null)),
  );
  if (shapes.size > 1) throw new DocumentProblem(at, 'alternatives that differ in their 64-bit integers');
  const shape = typed.find((each) => each.shape)?.shape;
  return { type: typed.map(({ type }) => enclosed(type)).join(joint), shape };
}

/** The summary and the end of a thing, for the editor. */
export function comment(node: Node): string {
  const text = [textAt(node, 'summary'), textAt(node, 'description')].filter(Boolean).join('. ');
  const lines = [...text.split('\n'), ...(node.value.deprecated ? ['@deprecated'] : [])].filter(
    (line) => line !== '',
  );
  if (lines.length === 0) return '';
  const safe = lines.map((line) => line.replaceAll('*/', '*\\/'));
  return `/** ${safe.join('\n * ')} */\n`;
}

export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function enclosed(type: string): string {
  return /^[\w.]+$/.test(type) ? type : `(${type})`;
}
