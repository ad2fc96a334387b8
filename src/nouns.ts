/** The words of a noun in texts, files and pages. */
export interface NounDescription {
  /** As in `createBook`, in messages and in cursors. */
  readonly singular: string;
  /** Its path in REST, its root field in GraphQL, its command, and the start of its scopes: `books:read`. */
  readonly plural: string;
  /** Its type in GraphQL, such as `Book`. Its enums begin with it: `BookOrder`, `BookState`. */
  readonly type: string;
  /** The singular with its article, such as `a book`. */
  readonly withArticle: string;
  /** In the navigation of the dashboard; absent = a box. */
  readonly icon?: 'paw' | 'book';
  /** Of the home page, if it is the first noun. */
  readonly headline: string;
  /** The fields that a client states, in the order of their columns. The first text names an item for people. */
  readonly fields: readonly NounField[];
  /** The arguments that select from its list in GraphQL. */
  readonly filters: readonly NounFilter[];
  /** The operations on one record, each with a scope of its name; absent = none. */
  readonly actions?: readonly NounAction[];
  /** Fields that no client states. Its answers depend on the time too, so none may be kept. */
  readonly computed?: readonly NounField[];
  /** GraphQL has `bookCount`, with the filters of the list. */
  readonly hasCount: boolean;
  /** GraphQL has `bookChanges` as query and subscription, and lists have their `changesCursor`. */
  readonly hasChanges?: boolean;
  /** A deleted item can be restored: GraphQL has `deletedBooks` and `restoreBook`. */
  readonly hasTrash?: boolean;
  /** Operations that GraphiQL offers; absent = a list, a creation, a change with every field, and each action. */
  readonly examples?: readonly NounExample[];
}

export interface NounField {
  /** As in both doors, and as the column of its files. */
  readonly name: string;
  /** For people, such as the head of a column. */
  readonly label: string;
  /** Its value in messages to people; absent = its label with `a`, such as `a title`. */
  readonly withArticle?: string;
  /** The name of its kind, such as `text`, for the control in a form. */
  readonly kind: string;
  /** Its form in JSON and in files: `texts` are a list. */
  readonly json: 'text' | 'integer' | 'boolean' | 'texts';
  /** Its type in GraphQL, such as `[String!]`; null = the field has its own enum. */
  readonly scalar: string | null;
  readonly isRequired: boolean;
  /** Of a new item that states no value, as text. Such a field always has a value. */
  readonly default?: string;
  /** No change states it. */
  readonly isImmutable?: boolean;
  /** No answer has it. */
  readonly isWriteOnly?: boolean;
  /** The end of the scope that reads it, such as `costs` of `books:costs`. */
  readonly readScope?: string;
  /** GraphQL has its orders, such as `DUE_AT` and `DUE_AT_DESC`. */
  readonly isSorted?: boolean;
  /** Of a text, or of each text of a list, in characters. */
  readonly maxLength?: number;
  /** In forms a new item has the default, or the first one; a truth value that may be absent has none. */
  readonly choices?: readonly string[];
  /** The text of each choice, from the definition; true and false have none. */
  readonly choiceTexts?: readonly string[];
  /** The colours of the choices in the dashboard; absent = all are `idle`. */
  readonly tones?: readonly ('good' | 'busy' | 'warn' | 'idle')[];
  readonly hint?: string;
  readonly example: string;
  /** Its value is the identifier of a record of this noun. */
  readonly reference?: NounReference;
}

export interface NounReference {
  /** The singular of the other noun. */
  readonly noun: string;
  /** In browsers: the other noun itself. */
  readonly to?: NounDescription;
  /** The field of GraphQL with the other record. */
  readonly as: string;
  /** The connection of the other noun; null = it has none. */
  readonly list: string | null;
  readonly mustExist: boolean;
  /** The rule for a deletion of the other record. */
  readonly onDelete: 'allow' | 'refuse' | 'unset';
}

export interface NounFilter {
  /** The argument of the list, such as `titleStartsWith`. */
  readonly argument: string;
  /** The name of the field, such as a choice or a text. */
  readonly field: string;
  /**
   * The value itself, or one of the texts of a list: then the list of items is ordered by age. Or the start of a text, or a
   * bound of a range: by these two it is then ordered.
   */
  readonly match: 'whole' | 'has' | 'start' | 'from' | 'before';
}

/** `lend` of books is the mutation `lendBook`, the path `/books/{bookId}/lend` and the scope `books:lend`. */
export interface NounAction {
  readonly name: string;
  /** For people, such as the text of a button. */
  readonly label: string;
  /** A sentence. */
  readonly description: string;
  /** Of its input, the type `LendBookInput` in GraphQL; none = it has no input. */
  readonly fields: readonly NounField[];
}

export interface NounExample {
  /** The purpose of the operation, such as `Add a book`. */
  readonly task: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}
