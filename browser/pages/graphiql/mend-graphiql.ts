/**
 * Gives GraphiQL's editors and tabs the names and roles that a screen reader needs. GraphiQL itself sets them only in a
 * later major version, whose editor is ten times as large.
 */
export function mendGraphiql(place: HTMLElement): void {
  const mend = () => {
    for (const editor of place.querySelectorAll('.CodeMirror')) nameEditor(editor);
    for (const tab of place.querySelectorAll('.graphiql-tab')) flattenTab(tab);
    place.querySelector('.graphiql-tabs[role]')?.removeAttribute('role');
    set(place.querySelector('#graphiql-session'), 'role', 'region');
  };
  const options = { childList: true, subtree: true, attributeFilter: ['class'] };
  new MutationObserver(mend).observe(place, options);
}

function nameEditor(editor: Element): void {
  set(editor.querySelector('textarea'), 'aria-label', purposeOf(editor));
  // An element without an input scrolls by keyboard only if it can have the focus.
  set(editor.querySelector('.CodeMirror-scroll'), 'tabindex', '0');
}

function purposeOf(editor: Element): string {
  if (editor.closest('.graphiql-query-editor')) return 'Query';
  if (editor.closest('.result-window')) return 'Response';
  const [variables] = editor.closest('.graphiql-editor-tool')?.querySelectorAll('.CodeMirror') ?? [];
  return editor === variables ? 'Variables' : 'Headers';
}

/**
 * A tab must not contain another control, but GraphiQL's contains its close button: so the tabs become a list of buttons.
 */
function flattenTab(tab: Element): void {
  tab.removeAttribute('role');
  tab.removeAttribute('aria-selected');
  set(tab.querySelector('button'), 'aria-current', String(tab.classList.contains('graphiql-tab-active')));
}

function set(element: Element | null, name: string, value: string): void {
  if (element && element.getAttribute(name) !== value) element.setAttribute(name, value);
}
