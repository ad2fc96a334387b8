import { useState } from 'react';
import { capitalized, headOf, type NounAction, type NounDescription } from '../../../nouns.js';
import { tellDone } from '../elements/toaster.js';
import { ActionDialog } from '../item-actions/action-dialog.js';
import { DeleteItem } from '../item-deletion/delete-item.js';
import { DeletedItems } from '../item-deletion/deleted-items.js';
import { ExportItems } from '../item-files/export-items.js';
import { ImportItems } from '../item-files/import-items.js';
import { LiveBadge } from '../live/live-badge.js';
import { usePlace } from '../routing/location.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { browseTo, browsingOf, previousPage, wholeListOf } from './browsing.js';
import { type Item, scopeOf, textIn } from './item.js';
import { documentsOf } from './item-documents.js';
import { ItemEditor } from './item-editor.js';
import { ItemList } from './item-list.js';
import { Toolbar } from './toolbar/toolbar.js';
import { useItemList } from './use-item-list.js';

type Act =
  | { kind: 'add' | 'import' | 'export' | 'deleted' }
  | { kind: 'edit' | 'remove'; item: Item; isOnly?: boolean }
  | { kind: 'action'; item: Item; action: NounAction };

/** The page of a noun: its items can be found, added, changed, imported and exported. */
export function ItemsPage({ noun }: { noun: NounDescription }) {
  const { scopes } = useSession().apiKey;
  const browsing = browsingOf(noun, usePlace());
  const [act, setAct] = useState<Act | null>(null);
  const [addedId, setAddedId] = useState<string | null>(null);
  const mayRead = scopes.includes(scopeOf(noun, 'READ'));
  const mayWrite = scopes.includes(scopeOf(noun, 'WRITE'));
  const { trash } = documentsOf(noun);
  const actions = (noun.actions ?? []).filter(({ name }) => scopes.includes(scopeOf(noun, name)));
  const list = useItemList(browsing, mayRead);
  const close = () => setAct(null);
  const saved = (item: Item) => {
    if (act?.kind === 'add') {
      setAddedId(item.id);
      // The newest items come first, so the new one is there.
      browseTo(wholeListOf(noun));
    }
    tellDone(
      <>
        Saved <bdi>{textIn(item, headOf(noun))}</bdi>, id {item.id}.
      </>,
    );
  };
  return (
    <Page
      title={capitalized(noun.plural)}
      badge={mayRead && <LiveBadge state={list.state} />}
      actions={
        mayRead && (
          <>
            {trash && (
              <button type="button" onClick={() => setAct({ kind: 'deleted' })}>
                Deleted
              </button>
            )}
            <button type="button" onClick={() => setAct({ kind: 'export' })}>
              Export
            </button>
            {mayWrite && (
              <>
                <button type="button" onClick={() => setAct({ kind: 'import' })}>
                  Import
                </button>
                <button type="button" className="primary" onClick={() => setAct({ kind: 'add' })}>
                  Add {noun.singular}
                </button>
              </>
            )}
          </>
        )
      }
    >
      <NeedsScope scope={scopeOf(noun, 'READ')} to={`see ${noun.plural}`}>
        <Toolbar browsing={browsing} />
        <ItemList
          list={list}
          browsing={browsing}
          addedId={addedId}
          acts={
            mayWrite || actions.length > 0
              ? {
                  edit: mayWrite ? (item) => setAct({ kind: 'edit', item }) : null,
                  remove: (item, isOnly) => setAct({ kind: 'remove', item, isOnly }),
                  actions,
                  act: (item, action) => setAct({ kind: 'action', item, action }),
                }
              : null
          }
          onAdd={() => setAct({ kind: 'add' })}
        />
        {(act?.kind === 'add' || act?.kind === 'edit') && (
          <ItemEditor
            noun={noun}
            item={act.kind === 'edit' ? act.item : null}
            onSaved={saved}
            onClose={close}
          />
        )}
        {act?.kind === 'remove' && (
          <DeleteItem
            noun={noun}
            item={act.item}
            onDeleted={() => act.isOnly && browsing.after !== null && browseTo(previousPage(browsing))}
            onClose={close}
          />
        )}
        {act?.kind === 'deleted' && trash && (
          <DeletedItems noun={noun} documents={trash} mayRestore={mayWrite} onClose={close} />
        )}
        {act?.kind === 'action' && (
          <ActionDialog noun={noun} item={act.item} action={act.action} onClose={close} />
        )}
        {act?.kind === 'export' && <ExportItems selection={browsing} onClose={close} />}
        {act?.kind === 'import' && <ImportItems noun={noun} onClose={close} />}
      </NeedsScope>
    </Page>
  );
}
