import { isJsonObject } from '../../ground/kernel/json.js';

/** An object of the document, with its place in it for messages. */
export interface Node {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A construct of the document that has no type here. A wrong type would be worse than none. */
export class DocumentProblem extends Error {
  constructor(at: string, problem: string) {
    super(`The document has ${problem} at ${at}`);
  }
}

/** The object at `name` of a node. Throws `DocumentProblem` if there is none. */
export function child({ at, value }: Node, name: string): Node {
  const node = asNode(value[name], `${at}/${pointerPart(name)}`);
  if (!node) throw new DocumentProblem(`${at}/${pointerPart(name)}`, 'no object');
  return node;
}

/** The objects at all names of the object `name`; none if it is absent. */
export function children(node: Node, name: string): [name: string, child: Node][] {
  if (node.value[name] === undefined) return [];
  const parent = child(node, name);
  return Object.keys(parent.value).map((key) => [key, child(parent, key)]);
}

/** The objects of the array `name`; none if it is absent. */
export function items({ at, value }: Node, name: string): Node[] {
  const list = value[name] ?? [];
  if (!Array.isArray(list)) throw new DocumentProblem(`${at}/${name}`, 'no array');
  return list.map((item, index) => {
    const node = asNode(item, `${at}/${name}/${index}`);
    if (!node) throw new DocumentProblem(`${at}/${name}/${index}`, 'no object');
    return node;
  });
}

/** The node itself, or the one that its `$ref` names. */
export function resolved(root: Node, node: Node, seen: readonly unknown[] = []): Node {
  const { $ref: target } = node.value;
  if (target === undefined) return node;
  if (seen.includes(target)) throw new DocumentProblem(node.at, 'a reference that leads back to itself');
  const parts = /^#\/(.+)$/.exec(String(target))?.[1]?.split('/');
  if (!parts) throw new DocumentProblem(node.at, `a reference to another document, ${String(target)},`);
  const names = parts.map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  return resolved(root, names.reduce(child, root), [...seen, target]);
}

/** The text at `name`, if it is one. */
export function textAt({ value }: Node, name: string): string | undefined {
  const text = value[name];
  return typeof text === 'string' ? text : undefined;
}

function asNode(value: unknown, at: string): Node | null {
  return isJsonObject(value) ? { at, value } : null;
}

const pointerPart = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
