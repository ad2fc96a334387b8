import { useState } from 'react';
import { tellDone } from '../elements/toaster.js';
import type { PetPartsFragment } from '../graphql/generated.js';
import { ExportPets } from '../pet-files/export-pets.js';
import { ImportPets } from '../pet-files/import-pets.js';
import { usePlace } from '../routing/location.js';
import { Page } from '../routing/page.js';
import { NeedsScope } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';
import { DeletePet } from './delete-pet.js';
import { ALL_PETS, browseTo, browsingOf, previousPage } from './pet-browsing.js';
import { PetEditor } from './pet-editor.js';
import { PetList } from './pet-list.js';
import { PetToolbar } from './pet-toolbar.js';

type Act =
  | { kind: 'add' | 'import' | 'export' }
  | { kind: 'edit' | 'remove'; pet: PetPartsFragment; isOnly?: boolean };

export function PetsPage() {
  const { apiKey } = useSession();
  const browsing = browsingOf(usePlace());
  const [act, setAct] = useState<Act | null>(null);
  const [addedId, setAddedId] = useState<string | null>(null);
  const [mayRead, mayWrite] = [apiKey.scopes.includes('PETS_READ'), apiKey.scopes.includes('PETS_WRITE')];
  const close = () => setAct(null);
  const saved = ({ id, name }: PetPartsFragment) => {
    if (act?.kind === 'add') {
      setAddedId(id);
      // The newest pets come first, so the new one is there.
      browseTo(ALL_PETS);
    }
    tellDone(
      <>
        Saved <bdi>{name}</bdi>, id {id}.
      </>,
    );
  };
  return (
    <Page
      title="Pets"
      actions={
        mayRead && (
          <>
            <button type="button" onClick={() => setAct({ kind: 'export' })}>
              Export
            </button>
            {mayWrite && (
              <>
                <button type="button" onClick={() => setAct({ kind: 'import' })}>
                  Import
                </button>
                <button type="button" className="primary" onClick={() => setAct({ kind: 'add' })}>
                  Add pet
                </button>
              </>
            )}
          </>
        )
      }
    >
      <NeedsScope scope="PETS_READ" to="see pets">
        <PetToolbar browsing={browsing} />
        <PetList
          browsing={browsing}
          addedId={addedId}
          acts={
            mayWrite
              ? {
                  edit: (pet) => setAct({ kind: 'edit', pet }),
                  remove: (pet, isOnly) => setAct({ kind: 'remove', pet, isOnly }),
                }
              : null
          }
          onAdd={() => setAct({ kind: 'add' })}
        />
        {(act?.kind === 'add' || act?.kind === 'edit') && (
          <PetEditor pet={act.kind === 'edit' ? act.pet : null} onSaved={saved} onClose={close} />
        )}
        {act?.kind === 'remove' && (
          <DeletePet
            pet={act.pet}
            onDeleted={() => act.isOnly && browsing.after !== null && browseTo(previousPage(browsing))}
            onClose={close}
          />
        )}
        {act?.kind === 'export' && <ExportPets selection={browsing} onClose={close} />}
        {act?.kind === 'import' && <ImportPets onClose={close} />}
      </NeedsScope>
    </Page>
  );
}
