/** An object of an OpenAPI document. */
type Part = { readonly [key: string]: unknown };
/** A client sends the value of a schema, or receives it. */
type Direction = 'sent' | 'received';

/** The changes that break clients of the older document; empty = none. It knows the keywords that our documents have. */
export function openApiBreaks(older: Part, newer: Part): string[] {
  return new Comparison(older, newer).run();
}

const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];
/** Words, and the keywords that have their own comparison. All others must stay as they are. */
const COMPARED = ['title', 'description', 'examples', 'deprecated'].concat(
  ['$ref', 'type', 'properties', 'required', 'items', 'enum'],
  LOWER_BOUNDS,
  UPPER_BOUNDS,
);

/**
 * Patterns of the last release whose replacement was reviewed: the gateway accepts and sends the values that it did. The older
 * one means another thing in each language, or does not exist there. D-270.
 */
const REVIEWED_PATTERNS = new Map<unknown, unknown>([
  ['^(?=[\\s\\S]*\\S)[^\\u0000\\uD800-\\uDFFF]*$', '\\S'],
]);

class Comparison {
  private readonly breaks: string[] = [];
  /** The named schemas that were compared: they may contain themselves. */
  private readonly compared = new Set<string>();

  constructor(
    private readonly older: Part,
    private readonly newer: Part,
  ) {}

  run(): string[] {
    for (const [path, methods] of entries(this.older.paths)) {
      for (const [method, operation] of entries(methods)) {
        const place = `${method.toUpperCase()} ${path}`;
        const now = part(part(part(this.newer.paths)[path])[method]);
        if (now.responses === undefined) this.breaks.push(`${place} was removed`);
        else this.operation(place, part(operation), now);
      }
    }
    return this.breaks;
  }

  private operation(place: string, was: Part, now: Part): void {
    this.same(`${place}: operationId`, was.operationId, now.operationId);
    this.same(`${place}: security`, was.security, now.security);
    const parameters = (of: Part) =>
      new Map(list(of.parameters).map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
    const [before, after] = [parameters(was), parameters(now)];
    for (const [name, parameter] of before) {
      const kept = after.get(name);
      if (kept) this.schema('sent', `${place}: ${name}`, parameter.schema, kept.schema);
      else this.breaks.push(`${place}: ${name} was removed`);
    }
    for (const [name, { required }] of after) {
      if (required && !before.get(name)?.required) this.breaks.push(`${place}: ${name} is now required`);
    }
    const [body, bodyNow] = [part(was.requestBody), part(now.requestBody)];
    if (bodyNow.required && !body.required) this.breaks.push(`${place}: a body is now required`);
    this.content('sent', place, body, bodyNow);
    for (const [status, response] of entries(was.responses)) {
      const kept = part(now.responses)[status];
      if (kept) this.response(`${place} ${status}`, part(response), part(kept));
      else if (Number(status) < 400) this.breaks.push(`${place} ${status} was removed`);
    }
  }

  private response(place: string, was: Part, now: Part): void {
    for (const [header] of entries(was.headers)) {
      if (!(header in part(now.headers))) this.breaks.push(`${place}: the header ${header} was removed`);
    }
    this.content('received', place, was, now);
  }

  private content(direction: Direction, place: string, was: Part, now: Part): void {
    for (const [type, { schema }] of entries(was.content).map(
      ([name, media]) => [name, part(media)] as const,
    )) {
      const kept = part(now.content)[type];
      if (kept) this.schema(direction, place, schema, part(kept).schema);
      else this.breaks.push(`${place}: ${type} was removed`);
    }
  }

  private schema(direction: Direction, place: string, wasOrRef: unknown, nowOrRef: unknown): void {
    const refs = [direction, part(wasOrRef).$ref, part(nowOrRef).$ref].join(' ');
    if (part(wasOrRef).$ref && this.compared.has(refs)) return;
    this.compared.add(refs);
    const [was, now] = [resolved(this.older, wasOrRef), resolved(this.newer, nowOrRef)];
    this.types(direction, place, was, now);
    this.bounds(direction, place, was, now);
    for (const keyword of new Set([...Object.keys(was), ...Object.keys(now)])) {
      if (COMPARED.includes(keyword)) continue;
      if (keyword === 'pattern' && REVIEWED_PATTERNS.get(was.pattern) === now.pattern) continue;
      this.same(`${place}: ${keyword}`, was[keyword], now[keyword]);
    }
    for (const [name, property] of entries(was.properties)) {
      const kept = part(now.properties)[name];
      if (kept) this.schema(direction, `${place}: ${name}`, property, kept);
      else this.breaks.push(`${place}: ${name} was removed`);
    }
    const [before, after] = [texts(was.required), texts(now.required)];
    const [promised, kept, told] =
      direction === 'sent' ? [after, before, 'is now required'] : [before, after, 'may now be missing'];
    for (const name of promised) if (!kept.includes(name)) this.breaks.push(`${place}: ${name} ${told}`);
    if (was.items) this.schema(direction, place, was.items, now.items);
  }

  /** A client may send all that it sent before, and receives nothing of another type. No value of an enum ends. */
  private types(direction: Direction, place: string, was: Part, now: Part): void {
    const [before, after] = [[was.type].flat(), [now.type].flat()];
    const [given, taken] = direction === 'sent' ? [before, after] : [after, before];
    if (!given.every((type) => taken.includes(type))) {
      this.breaks.push(`${place}: the type ${before} is now ${after}`);
    }
    const [values, valuesNow] = [was.enum as unknown[] | undefined, now.enum as unknown[] | undefined];
    const isNarrower = direction === 'sent' ? !values && valuesNow : values && !valuesNow;
    if (isNarrower) this.breaks.push(`${place}: enum was ${valuesNow ? 'added' : 'removed'}`);
    for (const value of (valuesNow && values) ?? []) {
      if (!valuesNow?.includes(value)) this.breaks.push(`${place}: the value ${value} was removed`);
    }
  }

  private bounds(direction: Direction, place: string, was: Part, now: Part): void {
    const [narrow, wide] = direction === 'sent' ? [now, was] : [was, now];
    const number = (of: Part, keyword: string, absent: number) => Number(of[keyword] ?? absent);
    const narrower = [
      ...LOWER_BOUNDS.filter((key) => number(narrow, key, -Infinity) > number(wide, key, -Infinity)),
      ...UPPER_BOUNDS.filter((key) => number(narrow, key, Infinity) < number(wide, key, Infinity)),
    ];
    for (const key of narrower) {
      this.breaks.push(`${place}: ${key} was ${was[key] ?? 'absent'}, and is ${now[key] ?? 'absent'}`);
    }
  }

  private same(place: string, was: unknown, now: unknown): void {
    const [before, after] = [JSON.stringify(was), JSON.stringify(now)];
    if (before !== after) this.breaks.push(`${place} was ${before ?? 'absent'}, and is ${after ?? 'absent'}`);
  }
}

function resolved(document: Part, schema: unknown): Part {
  const { $ref } = part(schema);
  if (typeof $ref !== 'string') return part(schema);
  return $ref
    .split('/')
    .slice(1)
    .reduce((of, key) => part(of[key]), document);
}

const part = (value: unknown): Part => (value ?? {}) as Part;
const entries = (value: unknown) => Object.entries(part(value));
const list = (value: unknown) => (value ?? []) as Part[];
const texts = (value: unknown) => (value ?? []) as string[];
