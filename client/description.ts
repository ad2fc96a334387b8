/** The description of an API, made by `petstore types`. The types of its calls are in `Api`, which exists only for the compiler. */
export interface Description<Api> {
  readonly baseUrl: string;
  readonly shapes: Shapes;
  /** By operation id. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly api?: Api;
}

export interface Operation {
  readonly method: string;
  /** Such as `/books/{bookId}`. */
  readonly path: string;
  /** Its second name, such as `books.list`. */
  readonly as?: string;
  /** It has a JSON body of this shape. */
  readonly body?: Shape;
  /** It has query parameters. */
  readonly query?: true;
  /** The shape of its answer; absent = the answer has no 64-bit integer. */
  readonly answer?: Shape;
  /** Its answer has no body. */
  readonly isEmpty?: true;
  /** `free`: it needs a key and costs no quota. `public`: it needs no key. */
  readonly access?: 'free' | 'public';
}

/**
 * Where a JSON value has 64-bit integers: `'int64'`, the name of another shape, the shape of each item of an array, or those of
 * the properties of an object that have some, `*` for every other property.
 */
export type Shape = string | readonly [Shape] | { readonly [property: string]: Shape };

export type Shapes = Readonly<Record<string, Shape>>;
