import { useMutation } from '@apollo/client/react';
import { type FormEvent, useMemo, useState } from 'react';
import { headOf, type NounAction, type NounDescription } from '../../../nouns.js';
import { Dialog } from '../elements/dialog.js';
import { FormActions } from '../elements/form-actions.js';
import { tellDone } from '../elements/toaster.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { fieldProblem } from '../errors/in-words.js';
import { newIdempotencyKey } from '../graphql/idempotency-key.js';
import { type Item, inputOf, textIn } from '../items/item.js';
import { actionDocumentOf, documentsOf } from '../items/item-documents.js';
import { firstTextOf, ItemField, problemOf } from '../items/item-field.js';

interface Props {
  noun: NounDescription;
  item: Item;
  action: NounAction;
  onClose: () => void;
}

/** Asks for the input of an action, and does it. */
export function ActionDialog({ noun, item, action, onClose }: Props) {
  const { label, description, fields } = action;
  const documents = documentsOf(noun);
  const name = textIn(item, headOf(noun));
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, firstTextOf(field)])),
  );
  const [isTried, setTried] = useState(false);
  // The same content sent again after a lost answer does nothing more.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another content needs another key.
  const key = useMemo(newIdempotencyKey, [texts]);
  const [act, { error, loading }] = useMutation(actionDocumentOf(noun, action), {
    refetchQueries: [documents.list],
    context: { headers: { 'idempotency-key': key } },
  });
  const textOf = (field: string) => texts[field] ?? '';
  const hasFieldProblem = fields.some((field) => fieldProblem(error, field.name) !== null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fields.some((field) => problemOf(field, textOf(field.name)))) return;
    const input = Object.fromEntries(
      fields.map((field) => {
        const text = textOf(field.name);
        return [field.name, inputOf(field, field.json === 'texts' ? text : text.trim())];
      }),
    );
    const variables = { id: item.id, ...(fields.length > 0 && { input }) };
    const { data } = await act({ variables }).catch(() => ({ data: null }));
    if (!data) return;
    onClose();
    tellDone(
      <>
        Done: {label}, <bdi>{name}</bdi>, id {item.id}.
      </>,
    );
  };

  return (
    <Dialog
      title={
        <>
          {label}: <bdi>{name}</bdi>
        </>
      }
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        <p>{description}</p>
        {fields.map((field) => (
          <ItemField
            key={field.name}
            field={field}
            text={textOf(field.name)}
            isReadOnly={false}
            problem={
              (isTried ? problemOf(field, textOf(field.name)) : null) ?? fieldProblem(error, field.name)
            }
            onChange={(text) => setTexts({ ...texts, [field.name]: text })}
          />
        ))}
        {error && !hasFieldProblem && <ErrorNotice error={error} />}
        <FormActions submit={label} submitting="Sending…" isBusy={loading} error={error} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
