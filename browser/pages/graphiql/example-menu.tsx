import { useEditorContext } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { NOUNS } from '../../gateway.js';
import { type ExampleQuery, exampleQueries } from './example-queries.js';

export const EXAMPLES = exampleQueries(NOUNS);

/** Opens an example in a new tab, so that it replaces nothing that the user wrote. */
export function ExampleMenu() {
  const { addTab, queryEditor, variableEditor, tabs } = useEditorContext({ nonNull: true });
  const wanted = useRef<ExampleQuery | null>(null);
  // GraphiQL fills a new tab with the default query, after it has changed the number of tabs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editors stay the same
  useEffect(() => {
    const example = wanted.current;
    if (!example) return;
    wanted.current = null;
    queryEditor?.setValue(example.query);
    variableEditor?.setValue(example.variables ? JSON.stringify(example.variables, null, 2) : '');
  }, [tabs.length]);
  return (
    <select
      className="examples"
      aria-label="Open an example in a new tab"
      value=""
      // The editors are loaded after the page. Before that an example would be lost.
      disabled={!queryEditor || !variableEditor}
      onChange={({ target }) => {
        wanted.current = EXAMPLES.find(({ task }) => task === target.value) ?? null;
        if (wanted.current) addTab();
      }}
    >
      <option value="">Examples…</option>
      {EXAMPLES.map(({ task }) => (
        <option key={task}>{task}</option>
      ))}
    </select>
  );
}
