import { ArrowDown, ArrowUp, ArrowUpDown, Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import {
  answeredFieldsOf,
  capitalized,
  headOf,
  inSentence,
  type NounAction,
  type NounDescription,
  type NounField,
} from '../../../nouns.js';
import { markHiddenSides } from '../elements/hidden-sides.js';
import { Moment } from '../elements/moment.js';
import { Tooltip } from '../elements/tooltip.js';
import { ActionMenu } from '../item-actions/action-menu.js';
import { ReferenceCell } from '../references/reference-cell.js';
import { type Browsing, browseTo, select } from './browsing.js';
import { choiceWord, type Item, textIn, valueIn } from './item.js';
import { orderBy, orderingOf } from './selection.js';

/** The acts that the key allows on an item. */
export interface ItemActs {
  /** Null = the key may not change items. */
  edit: ((item: Item) => void) | null;
  /** `isOnly`: the page has no other item. */
  remove: (item: Item, isOnly: boolean) => void;
  actions: readonly NounAction[];
  act: (item: Item, action: NounAction) => void;
}

interface Props {
  browsing: Browsing;
  items: readonly Item[];
  /** Another page is loading. */
  isBusy: boolean;
  /** This item is marked and scrolled into view. */
  addedId: string | null;
  /** These were just changed by somebody: they are marked for a moment. */
  changedIds: ReadonlySet<string>;
  acts: ItemActs | null;
}

export function ItemTable({ browsing, items, isBusy, addedId, changedIds, acts }: Props) {
  const { noun } = browsing;
  const added = useRef<HTMLTableRowElement>(null);
  const isShown = items.some(({ id }) => id === addedId);
  useEffect(() => {
    if (isShown) added.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  const head = headOf(noun);
  const columns = columnsOf(noun);
  return (
    <div className="item-columns" ref={markHiddenSides}>
      <table className="stacked items" aria-busy={isBusy}>
        <caption className="unseen">{capitalized(noun.plural)}</caption>
        <thead>
          <tr>
            {[head, ...columns].map((field) => (
              <Head key={field.name} field={field} browsing={browsing} />
            ))}
            <th scope="col">Id</th>
            <th scope="col">Added</th>
            {acts && (
              <th scope="col" className="row-acts">
                <span className="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr
              key={item.id}
              ref={item.id === addedId ? added : undefined}
              className={item.id === addedId ? 'added' : changedIds.has(item.id) ? 'changed' : undefined}
            >
              <th scope="row" data-head={head.label}>
                <bdi>{textIn(item, head)}</bdi>
              </th>
              {columns.map((field) => (
                <Cell key={field.name} field={field} item={item} />
              ))}
              <td data-head="Id">
                <code>{item.id}</code>
              </td>
              <td data-head="Added">
                <Moment at={item.createdAt} />
              </td>
              {acts && (
                <td className="row-acts">
                  <Acts item={item} name={textIn(item, head)} isOnly={items.length === 1} acts={acts} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The head of a sorted column orders the list by it: ascending, descending, and not any more. */
function Head({ field, browsing }: { field: NounField; browsing: Browsing }) {
  const { label, isSorted } = field;
  const ordering = orderingOf(browsing);
  const isOrdering = ordering.field?.name === field.name;
  const className = isNumber(field) ? 'number' : undefined;
  if (!isSorted && !isOrdering)
    return (
      <th scope="col" className={className}>
        {label}
      </th>
    );
  const direction = isOrdering ? (ordering.isDescending ? 'descending' : 'ascending') : 'none';
  const Icon = { ascending: ArrowUp, descending: ArrowDown, none: ArrowUpDown }[direction];
  const goOn = () => {
    const isReverse = direction === 'ascending';
    const next = ordering.isFixed ? (isReverse ? 'NEWEST' : 'OLDEST') : orderBy(field, isReverse);
    const ends = direction === 'descending' && !ordering.isFixed;
    browseTo(select(browsing, { orderBy: ends ? null : next }));
  };
  return (
    <th scope="col" aria-sort={direction} className={className}>
      <button
        type="button"
        className="sort"
        disabled={ordering.isFixed && !isOrdering}
        title={
          ordering.isFixed && !isOrdering
            ? `The list is ordered by ${inSentence(ordering.field?.label ?? 'Age')}, as its filter is`
            : undefined
        }
        onClick={goOn}
      >
        {label}
        <Icon size={14} aria-hidden="true" />
      </button>
    </th>
  );
}

/** The fields beside the name, the choices first: they are read most. */
function columnsOf(noun: NounDescription): NounField[] {
  const head = headOf(noun);
  const others = answeredFieldsOf(noun).filter(({ name }) => name !== head.name);
  return [
    ...others.filter(({ kind }) => kind === 'choice'),
    ...others.filter(({ kind }) => kind !== 'choice'),
  ];
}

/** Numbers have their digits below each other. An identifier is no number. */
function isNumber({ kind, json, reference }: NounField): boolean {
  return !reference && (json === 'integer' || kind === 'int64' || kind === 'decimal');
}

/** A text that is never longer, such as an ISBN, stays on one line. */
const SHORT_CHARACTERS = 20;

/** The badge of a choice needs no name on a narrow screen. */
function Cell({ field, item }: { field: NounField; item: Item }) {
  const text = textIn(item, field);
  const { kind, json, scalar, label, choices, tones, maxLength } = field;
  const tone = tones?.[choices?.indexOf(text) ?? -1] ?? 'idle';
  const list = json === 'texts' ? [valueIn(text) ?? []].flat() : null;
  const isLong = kind === 'text' && (maxLength === undefined || maxLength > SHORT_CHARACTERS);
  const form =
    kind === 'choice' ? 'unnamed' : isNumber(field) ? 'number whole' : isLong ? undefined : 'whole';
  return (
    <td data-head={label} className={form}>
      {text === '' ? (
        <span className="muted">not set</span>
      ) : list?.length === 0 ? (
        <span className="muted">none</span>
      ) : field.reference ? (
        <ReferenceCell item={item} field={field} />
      ) : kind === 'choice' ? (
        <span className={`badge badge-${tone}`}>{text}</span>
      ) : kind === 'text' ? (
        <bdi>{text}</bdi>
      ) : scalar === 'DateTime' ? (
        <Moment at={text} />
      ) : list ? (
        <bdi>{list.join(', ')}</bdi>
      ) : (
        choiceWord(field, text)
      )}
    </td>
  );
}

interface ActsProps {
  item: Item;
  name: string;
  isOnly: boolean;
  acts: ItemActs;
}

function Acts({ item, name, isOnly, acts: { edit, remove, actions, act } }: ActsProps) {
  return (
    <span className="item-acts">
      {edit && (
        <>
          <button type="button" className="small" aria-label={`Edit ${name}`} onClick={() => edit(item)}>
            Edit
          </button>
          <Tooltip content="Delete">
            <button
              type="button"
              className="quiet icon small"
              aria-label={`Delete ${name}`}
              onClick={() => remove(item, isOnly)}
            >
              <Trash2 size={16} aria-hidden="true" />
            </button>
          </Tooltip>
        </>
      )}
      <ActionMenu name={name} actions={actions} onChoose={(action) => act(item, action)} />
    </span>
  );
}
