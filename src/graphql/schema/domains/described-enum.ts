import { registerEnumType } from 'type-graphql';

/** An enum of the schema whose values are the keys of `texts`, each described by its text. */
export function describedEnum(
  name: string,
  description: string,
  texts: Record<string, string>,
): Record<string, string> {
  const values = Object.fromEntries(Object.keys(texts).map((value) => [value, value]));
  const valuesConfig = Object.fromEntries(
    Object.entries(texts).map(([value, text]) => [value, { description: text }]),
  );
  registerEnumType(values, { name, description, valuesConfig });
  return values;
}
