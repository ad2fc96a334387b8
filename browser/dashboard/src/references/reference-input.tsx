import type { TypedDocumentNode } from '@apollo/client';
import { useQuery } from '@apollo/client/react';
import { parse } from 'graphql';
import { type ComponentProps, type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import { headOf, type NounDescription } from '../../../nouns.js';
import { type Item, textIn } from '../items/item.js';
import { searchOf } from './reference-names.js';

interface Props
  extends Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-invalid' | 'aria-label'> {
  /** The noun that can be chosen. */
  other: NounDescription;
  /** An identifier, or what the user types to find one. */
  text: string;
  placeholder?: string;
  onChange: (text: string) => void;
}

/** Each search spends a unit of the plan, so it waits for a pause in the typing. */
const PAUSE_MS = 350;
const MOST = 8;
const IDENTIFIER = /^\d{1,19}$/;

/** Finds a record of another noun by the start of its name, or by its identifier. WAI-ARIA: a combobox with a list. */
export function ReferenceInput({ other, text, placeholder, onChange, ...described }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  /** The user types now: the text stays as it is. */
  const [isTyping, setTyping] = useState(false);
  const [picked, setPicked] = useState<Item | null>(null);
  const listId = useId();
  const asked = useSettled(text.trim());
  const isIdentifier = IDENTIFIER.test(asked);
  const search = searchOf(other);
  const document = useMemo(() => searchDocument(other), [other]);
  const { data, loading } = useQuery(document, {
    variables: {
      ids: isIdentifier ? [asked] : null,
      ...(search !== null && { start: isIdentifier || asked === '' ? null : asked }),
      orderBy: isIdentifier || asked === '' || search === null ? 'NEWEST' : 'OLDEST',
    },
    // The name of a chosen record is shown at once.
    skip: !isOpen && !isIdentifier,
  });
  const nodes = data?.found.nodes ?? [];
  // Records that were found for another text cannot be chosen.
  const isSettled = asked === text.trim();
  const found = isSettled ? nodes : [];
  const options = isOpen ? found : [];
  const head = headOf(other);
  // The list of the search is gone when the identifier is looked for.
  const chosen = [...nodes, ...(picked ? [picked] : [])].find(({ id }) => id === text.trim());
  const choose = (item: Item) => {
    setPicked(item);
    onChange(item.id);
    setOpen(false);
    setTyping(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const item = isOpen ? found[at] : undefined;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setOpen(true);
      if (found.length > 0) setAt(isOpen ? (at + step + found.length) % found.length : 0);
    } else if (event.key === 'Enter' && item) choose(item);
    // An open list takes the key, and not the dialog.
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="reference">
      <input
        {...described}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found[at] ? `${listId}-${at}` : undefined}
        value={(chosen && !isTyping && textIn(chosen, head)) || text}
        placeholder={placeholder ?? (search === null ? 'Id' : `${head.label}, or id`)}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setOpen(true);
          setAt(-1);
          setTyping(true);
          onChange(target.value);
        }}
        onClick={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          setTyping(false);
        }}
        onKeyDown={onKeyDown}
      />
      {chosen && !isOpen && (
        <p className="reference-id">
          Id <code>{chosen.id}</code>
        </p>
      )}
      <p className="unseen" role="status">
        {isOpen && !loading ? `${found.length} found` : ''}
      </p>
      <div id={listId} role="listbox" aria-label={other.plural} className="reference-list" hidden={!isOpen}>
        {options.map((item, index) => (
          // The keys are those of the input, which keeps the focus.
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
          // biome-ignore lint/a11y/useFocusableInteractive: see above.
          <div
            key={item.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(item)}
          >
            <bdi>{textIn(item, head)}</bdi> <code>{item.id}</code>
          </div>
        ))}
        {found.length === 0 && (
          <p className="muted">{loading || !isSettled ? 'Searching…' : `No ${other.singular} is found.`}</p>
        )}
      </div>
    </div>
  );
}

/** The text after a pause. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Found = { found: { nodes: readonly Item[] } };

function searchDocument(other: NounDescription): TypedDocumentNode<Found, Record<string, unknown>> {
  const { type, plural } = other;
  const search = searchOf(other);
  const [declared, given] = search === null ? ['', ''] : [', $start: String', `, ${search}: $start`];
  return parse(`query Find${type}($ids: [ID!], $orderBy: ${type}Order${declared}) {
    found: ${plural}(first: ${MOST}, ids: $ids, orderBy: $orderBy${given}) { nodes { id ${headOf(other).name} } }
  }`);
}
