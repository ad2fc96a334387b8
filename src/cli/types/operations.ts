import { child, children, DocumentProblem, items, type Node, resolved, textAt } from './document.js';
import { comment, propertyName, type Shape, type Typed, typeOf } from './schema-types.js';

/** The operation for the client. As `Operation` of the client. */
interface Described {
  readonly method: string;
  readonly path: string;
  readonly as?: string;
  readonly body?: Shape;
  readonly query?: true;
  readonly answer?: Shape;
  readonly isEmpty?: true;
  readonly access?: 'free' | 'public';
}

export interface OperationTypes {
  readonly id: string;
  readonly described: Described;
  /** Its methods: `name` is `books.list`, or the operation id. */
  readonly methods: readonly { readonly name: string; readonly text: string }[];
}

type NameOf = (target: string, at: string) => string;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const NO_METHODS = ['summary', 'description', 'servers', 'parameters', 'options', 'trace'];
const ID_PATTERN = /^[A-Za-z_$][\w$]*$/;
/** The client sends it with every write. */
const OWN_HEADER = 'idempotency-key';

/** The operations of a document, with their types. Throws `DocumentProblem`. */
export function operationsOf(root: Node, nameOf: NameOf): OperationTypes[] {
  const paths = children(root, 'paths');
  for (const [path, { at }] of paths) {
    // Behind an address without a path it could name another host.
    if (!/^\/(?!\/)/.test(path)) throw new DocumentProblem(at, 'a path that does not begin with one slash');
  }
  const lists = new Set(paths.filter(([, item]) => isList(root, item)).map(([path]) => path));
  return paths.flatMap(([path, item]) => {
    const other = Object.keys(item.value).find(
      (key) => !METHODS.includes(key) && !NO_METHODS.includes(key) && !/^x-/.test(key),
    );
    if (other !== undefined) throw new DocumentProblem(item.at, `${other}, which is unknown,`);
    return METHODS.filter((method) => item.value[method] !== undefined).map((method) =>
      operation(root, { path, item, method, lists, nameOf }),
    );
  });
}

interface Place {
  readonly path: string;
  readonly item: Node;
  readonly method: string;
  /** The paths whose GET answers with an array. */
  readonly lists: ReadonlySet<string>;
  readonly nameOf: NameOf;
}

function operation(root: Node, place: Place): OperationTypes {
  const { path, item, method, nameOf } = place;
  const node = child(item, method);
  const id = textAt(node, 'operationId') ?? '';
  if (!ID_PATTERN.test(id)) throw new DocumentProblem(node.at, 'no operationId that is a name in JavaScript');
  const parameters = parametersOf(root, item, node, nameOf);
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => {
    const found = parameters.find((each) => each.in === 'path' && each.name === name);
    if (!found || !ID_PATTERN.test(name)) throw new DocumentProblem(node.at, `no parameter for {${name}}`);
    return `${name}: ${found.typed.type}`;
  });
  const inQuery = parameters.filter((each) => each.in === 'query');
  const body = bodyOf(root, node, nameOf);
  const answer = answerOf(root, node, nameOf);
  const as = nameIn(place);
  const start = [...inPath, ...(body ? [`body${body.isRequired ? '' : '?'}: ${body.typed.type}`] : [])];
  const query = inQuery.length > 0 ? [queryArgument(inQuery)] : [];
  const values = [...start, ...query, 'options?: client.CallOptions'].join(', ');
  const typed = (name: string, signature: string) => ({ name, text: `${comment(node)}${signature};` });
  const result = `Promise<${answer.result}>`;
  const methods = [typed(id, `${id}(${values}): ${result}`)];
  const filters = inQuery.filter(({ name }) => name !== 'cursor');
  const [, own] = as?.split('.') ?? [];
  if (as && own === 'changes') {
    const argument = queryArgument([...filters, AFTER]);
    methods.push(
      typed(as, `changes(${argument}, options?: client.FollowOptions): client.Changes<${answer.item}>`),
    );
  } else if (as) {
    methods.push(typed(as, `${own}(${values}): ${result}`));
  }
  if (as && own === 'list') {
    const argument = queryArgument(filters);
    methods.push(
      typed(
        as.replace(/list$/, 'all'),
        `all(${argument}, options?: client.CallOptions): client.Pages<${answer.item}>`,
      ),
    );
  }
  const access = accessOf(root, node);
  return {
    id,
    methods,
    described: {
      method: method.toUpperCase(),
      path,
      ...(as ? { as } : {}),
      ...(body ? { body: body.typed.shape ?? {} } : {}),
      ...(inQuery.length > 0 ? { query: true as const } : {}),
      ...(answer.typed?.shape === undefined ? {} : { answer: answer.typed.shape }),
      ...(answer.typed ? {} : { isEmpty: true as const }),
      ...(access ? { access } : {}),
    },
  };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly isRequired: boolean;
  readonly typed: Pick<Typed, 'type'>;
  readonly note: string;
}

const AFTER: Parameter = {
  name: 'after',
  in: 'query',
  isRequired: false,
  typed: { type: 'string' },
  note: '/** Only changes behind this cursor. */\n',
};

function parametersOf(root: Node, item: Node, node: Node, nameOf: NameOf): Parameter[] {
  return [...items(item, 'parameters'), ...items(node, 'parameters')].flatMap((each) => {
    const parameter = resolved(root, each);
    const { value, at } = parameter;
    const [name, where, isRequired] = [
      textAt(parameter, 'name') ?? '',
      textAt(parameter, 'in') ?? '',
      value.required === true,
    ];
    if (where === 'header' || where === 'cookie') {
      if (isRequired && name.toLowerCase() !== OWN_HEADER)
        throw new DocumentProblem(at, `a required ${where} ${name}, which the client cannot send,`);
      return [];
    }
    if (where !== 'query' && where !== 'path') throw new DocumentProblem(at, `a parameter in "${where}"`);
    const styles = { query: 'form', path: 'simple' } as const;
    if (
      (value.style ?? styles[where]) !== styles[where] ||
      value.explode === (where === 'path') ||
      value.allowReserved
    )
      throw new DocumentProblem(at, 'a style of a parameter that is not the default');
    const schema = resolved(root, child(parameter, 'schema'));
    if (
      [schema.value.type].flat().some((type) => type === 'object' || (type === 'array' && where === 'path'))
    )
      throw new DocumentProblem(at, `an object or array as the parameter ${name}`);
    return [{ name, in: where, isRequired, typed: typeOf(schema, nameOf), note: comment(parameter) }];
  });
}

function queryArgument(parameters: readonly Parameter[]): string {
  const members = parameters.map(
    ({ name, isRequired, typed, note }) =>
      `${note}${propertyName(name)}${isRequired ? '' : '?'}: ${typed.type}${isRequired ? '' : ' | undefined'};`,
  );
  const isOptional = !parameters.some(({ isRequired }) => isRequired);
  return `query${isOptional ? '?' : ''}: ${members.length === 0 ? '{}' : `{\n${members.join('\n')}\n}`}`;
}

function bodyOf(root: Node, node: Node, nameOf: NameOf): { typed: Typed; isRequired: boolean } | null {
  if (node.value.requestBody === undefined) return null;
  const body = resolved(root, child(node, 'requestBody'));
  const typed = jsonOf(body, nameOf);
  if (!typed) throw new DocumentProblem(body.at, 'a body that is not application/json');
  return { typed, isRequired: body.value.required === true };
}

/** The answer of the one success that has content, and of another one that has none. */
function answerOf(
  root: Node,
  node: Node,
  nameOf: NameOf,
): { typed: Typed | null; result: string; item: string } {
  const successes = children(node, 'responses')
    .filter(([status]) => /^2/.test(status))
    .map(([, response]) => resolved(root, response));
  if (successes.length === 0) throw new DocumentProblem(node.at, 'no successful answer');
  const typed = successes.map((response) => jsonOf(response, nameOf));
  const found = typed.find((each) => each !== null) ?? null;
  if (typed.some((each) => each !== null && each.type !== found?.type))
    throw new DocumentProblem(node.at, 'several different successful answers');
  const type = found?.type ?? 'void';
  const result = found && typed.includes(null) ? `${type} | undefined` : type;
  return { typed: found, result, item: type.endsWith('[]') ? type.slice(0, -2) : `${type}[number]` };
}

/** The type of JSON content; null = there is no content. */
function jsonOf(node: Node, nameOf: NameOf): Typed | null {
  const content = children(node, 'content');
  if (content.length === 0) return null;
  const [, json] = content.find(([type]) => /^application\/json\b/.test(type)) ?? [];
  if (!json) throw new DocumentProblem(node.at, 'content that is not application/json');
  return json.value.schema === undefined
    ? { type: 'unknown', shape: undefined }
    : typeOf(child(json, 'schema'), nameOf);
}

/** `books.list` for `GET /books`, if it answers with an array; and the names of what is below such a list. */
function nameIn({ path, method, lists }: Place): string | null {
  const [, list = '', rest] = /^\/([a-z]\w*)(?:\/(changes|\{\w+\}))?$/.exec(path) ?? [];
  if (!lists.has(`/${list}`)) return null;
  const names: Record<string, Record<string, string>> = {
    undefined: { get: 'list', post: 'create' },
    changes: { get: 'changes' },
  };
  const ofOne = { get: 'get', put: 'replace', patch: 'update', delete: 'delete' };
  const name = (names[String(rest)] ?? ofOne)[method as keyof typeof ofOne];
  return name === undefined ? null : `${list}.${name}`;
}

function isList(root: Node, item: Node): boolean {
  if (item.value.get === undefined) return false;
  const [, success] = children(child(item, 'get'), 'responses').find(([status]) => status === '200') ?? [];
  const content =
    success && children(resolved(root, success), 'content').find(([type]) => /json/.test(type))?.[1];
  if (!content || content.value.schema === undefined) return false;
  return resolved(root, child(content, 'schema')).value.type === 'array';
}

/** An operation that names no scope costs no quota; one without security needs no key. */
function accessOf(root: Node, node: Node): Described['access'] | null {
  const all = (node.value.security ?? root.value.security ?? []) as Record<string, readonly string[]>[];
  if (all.length === 0) return 'public';
  return all.some((each) => Object.values(each).some((scopes) => scopes.length > 0)) ? null : 'free';
}
