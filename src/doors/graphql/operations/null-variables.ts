import {
  GraphQLError,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type ValidationRule,
  type VariableDefinitionNode,
} from 'graphql';

/** A variable that may be null by its own type, and the type of the place where null is not allowed. */
interface Place {
  readonly definition: VariableDefinitionNode;
  readonly type: string;
}

/**
 * Finds null where an operation does not allow it. A variable with a default may stand in such a place, and graphql notices
 * null only when it executes the place: mutations have run then. D-244.
 */
export class NullVariables {
  private readonly places = new WeakMap<OperationDefinitionNode, readonly Place[]>();

  /** Finds the places of each operation, from what graphql's own rule about variables collects. */
  readonly rule: ValidationRule = (context) => ({
    OperationDefinition: {
      leave: (operation) => {
        const { variableDefinitions = [] } = operation;
        const nullable = variableDefinitions.filter(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
        if (nullable.length === 0) return;
        const usages = context.getRecursiveVariableUsages(operation);
        const places = nullable.flatMap((definition) => {
          const { value } = definition.variable.name;
          const type = usages.find(
            (usage) => usage.node.name.value === value && isNonNullType(usage.type),
          )?.type;
          return type ? { definition, type: String(type) } : [];
        });
        if (places.length > 0) this.places.set(operation, places);
      },
    },
  });

  /** The problems, at most `most`, of the values that a client sent for a valid operation. */
  problemsOf(
    operation: OperationDefinitionNode | null | undefined,
    variables: Readonly<Record<string, unknown>>,
    most: number,
  ): GraphQLError[] {
    const places = (operation && this.places.get(operation)) ?? [];
    return places
      .filter(({ definition }) => variables[definition.variable.name.value] === null)
      .slice(0, most)
      .map(({ definition, type }) => {
        const { value } = definition.variable.name;
        const message = `Variable "$${value}" must not be null: it is used where the type is "${type}". Leave it out, and its default counts.`;
        return new GraphQLError(message, { nodes: [definition] });
      });
  }
}
