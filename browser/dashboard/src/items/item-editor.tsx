import { useMutation } from '@apollo/client/react';
import { type FormEvent, useMemo, useState } from 'react';
import { headOf, type NounDescription, type NounField } from '../../../nouns.js';
import { Dialog } from '../elements/dialog.js';
import { FormActions } from '../elements/form-actions.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { useSession } from '../session/signed-in.js';
import { formTextOf, type Item, inputOf, scopeOf, textIn } from './item.js';
import { documentsOf } from './item-documents.js';
import { firstTextOf, ItemField, problemOf } from './item-field.js';

interface Props {
  noun: NounDescription;
  /** Null = a new item. */
  item: Item | null;
  onSaved: (item: Item) => void;
  onClose: () => void;
}

/** Adds an item, or changes it. */
export function ItemEditor({ noun, item, onSaved, onClose }: Props) {
  const { fields, singular, withArticle } = noun;
  const stated = fields.filter(({ isImmutable }) => item === null || !isImmutable);
  const documents = documentsOf(noun);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      fields.map((field) => [field.name, item ? formTextOf(item, field) : firstTextOf(field)]),
    ),
  );
  const [isTried, setTried] = useState(false);
  // The same content sent again after a lost answer adds no second item.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another content needs another key.
  const key = useMemo(newIdempotencyKey, [texts]);
  const options = { refetchQueries: [documents.list], context: { headers: { 'idempotency-key': key } } };
  const [create, creating] = useMutation(documents.create, options);
  const [update, updating] = useMutation(documents.update, options);
  const error = creating.error ?? updating.error;
  const isBusy = creating.loading || updating.loading;
  const textOf = (name: string) => texts[name] ?? '';
  const { scopes } = useSession().apiKey;
  const isHidden = ({ isWriteOnly, readScope }: NounField) =>
    isWriteOnly || (readScope !== undefined && !scopes.includes(scopeOf(noun, readScope)));
  /** A value that the key cannot read stays as it is, unless another one is filled in. */
  const wrongIn = (field: NounField) =>
    item && isHidden(field) && textOf(field.name) === '' ? null : problemOf(field, textOf(field.name));
  const hasFieldProblem = fields.some(({ name }) => fieldProblem(error, name) !== null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (stated.some((field) => wrongIn(field))) return;
    // A change states what was edited: somebody else may have changed the rest.
    const edited = stated.filter((field) => !item || textOf(field.name) !== formTextOf(item, field));
    if (item && edited.length === 0) {
      onSaved(item);
      return onClose();
    }
    const input = Object.fromEntries(
      edited.map((field) => {
        const text = textOf(field.name);
        // In a list, blanks belong to its texts.
        return [field.name, inputOf(field, field.json === 'texts' ? text : text.trim())];
      }),
    );
    const { data } = item
      ? await update({ variables: { id: item.id, input } }).catch(() => ({ data: null }))
      : await create({ variables: { input } }).catch(() => ({ data: null }));
    if (!data) return;
    onSaved(data.saved);
    onClose();
  };

  return (
    <Dialog
      title={
        item ? (
          <>
            Edit <bdi>{textIn(item, headOf(noun))}</bdi>
          </>
        ) : (
          `Add ${withArticle}`
        )
      }
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        {fields.map((field) => (
          <ItemField
            key={field.name}
            field={field}
            text={textOf(field.name)}
            isKept={item !== null && isHidden(field)}
            isReadOnly={!stated.includes(field)}
            problem={(isTried ? wrongIn(field) : null) ?? fieldProblem(error, field.name)}
            onChange={(text) => setTexts({ ...texts, [field.name]: text })}
          />
        ))}
        {error && !hasFieldProblem && <ErrorNotice error={error} />}
        <FormActions
          submit={item ? 'Save' : `Add ${singular}`}
          submitting="Saving…"
          isBusy={isBusy}
          error={error}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
