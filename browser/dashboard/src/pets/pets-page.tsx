import { useState } from 'react';
import { tellDone } from '../elements/toaster.js';
import type { PetPartsFragment } from '../graphql/generated.js';
import { usePlace } from '../routing/location.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { browsingOf } from './pet-browsing.js';
import { PetEditor } from './pet-editor.js';
import { PetList } from './pet-list.js';
import { StatusFilter } from './status-filter.js';

export function PetsPage() {
  const { apiKey } = useSession();
  const place = usePlace();
  const browsing = browsingOf(place);
  const [edited, setEdited] = useState<PetPartsFragment | 'new' | null>(null);
  const mayWrite = apiKey.scopes.includes('PETS_WRITE');
  return (
    <Page
      title="Pets"
      actions={
        mayWrite && (
          <button type="button" className="primary" onClick={() => setEdited('new')}>
            Add pet
          </button>
        )
      }
    >
      <NeedsScope scope="PETS_READ" to="see pets">
        <StatusFilter browsing={browsing} />
        <PetList browsing={browsing} onEdit={mayWrite ? setEdited : null} onAdd={() => setEdited('new')} />
        {edited !== null && (
          <PetEditor
            pet={edited === 'new' ? null : edited}
            onSaved={({ id, name }) =>
              tellDone(
                <>
                  Saved <bdi>{name}</bdi>, id {id}.
                </>,
              )
            }
            onClose={() => setEdited(null)}
          />
        )}
      </NeedsScope>
    </Page>
  );
}
