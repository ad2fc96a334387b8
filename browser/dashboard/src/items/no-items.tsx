import { Fragment } from 'react';
import { filteredFieldsOf, inSentence, valueInWords } from '../../../nouns.js';
import { type Browsing, browseTo, wholeListOf } from './browsing.js';
import { choiceInWords } from './item.js';

interface Props {
  browsing: Browsing;
  mayAdd: boolean;
  onAdd: () => void;
}

/** Says why the list is empty, and offers the next step. */
export function NoItems({ browsing, mayAdd, onAdd }: Props) {
  const { noun, filters, after } = browsing;
  const { singular, plural } = noun;
  const isPart = after !== null || Object.keys(filters).length > 0;
  return (
    <div className="empty">
      <p className="empty-title">{title(browsing)}</p>
      {searchesOf(browsing)
        .filter(({ match }) => /^(start|whole|has)$/.test(match))
        .map(({ argument, match, field }) => (
          <p key={argument} className="muted">
            {COMPARED[match as keyof typeof COMPARED]} {inSentence(field.label)} is compared. Upper and lower
            case, accents and blanks differ.
          </p>
        ))}
      {isPart ? (
        <button type="button" onClick={() => browseTo(wholeListOf(noun))}>
          Show all {plural}
        </button>
      ) : mayAdd ? (
        <button type="button" onClick={onAdd}>
          Add the first {singular}
        </button>
      ) : (
        <p>A key with the scope {plural}:write can add one.</p>
      )}
    </div>
  );
}

const COMPARED = {
  start: 'Only the start of the',
  whole: 'The whole',
  has: 'Each whole text of the',
};
const WORDS = { start: 'that starts with', whole: 'that is', from: 'from', before: 'before' };

/** The filters by a text or a bound that are set. */
function searchesOf({ noun, filters }: Browsing) {
  return filteredFieldsOf(noun).filter(
    ({ argument, field, match }) => (!field.choices || match !== 'whole') && filters[argument] !== undefined,
  );
}

function title(browsing: Browsing) {
  const { noun, filters, after } = browsing;
  const { singular, plural } = noun;
  if (after !== null) return `No more ${plural}`;
  const searches = searchesOf(browsing);
  const chosen = filteredFieldsOf(noun)
    .filter(({ field }) => field.choices)
    .flatMap(({ argument, field }) => {
      const choice = filters[argument];
      return choice === undefined ? [] : [choiceInWords(field, choice)];
    });
  if (searches.length === 0) {
    return chosen.length > 0 ? `No ${singular} is ${chosen.join(' and ')}` : `No ${singular} yet`;
  }
  return (
    <>
      No {[...chosen, singular].join(' ')} has{' '}
      {searches.map(({ argument, match, field }, at) => (
        <Fragment key={argument}>
          {at > 0 && ' and '}
          {match !== 'has' && `${valueInWords(field)} ${WORDS[match]} `}“<bdi>{filters[argument]}</bdi>”
          {match === 'has' && ` in its ${inSentence(field.label)}`}
        </Fragment>
      ))}
    </>
  );
}
