import { Ban, LockOpen, Pencil, RefreshCw, ScrollText } from 'lucide-react';
import { Menu } from '../elements/menu.js';
import type { KeyPartsFragment } from '../graphql/generated.js';
import { showRequests } from '../requests/request-filter.js';

export type KeyAct = 'rename' | 'roll' | 'liftBan' | 'revoke';

interface Props {
  apiKey: KeyPartsFragment;
  /** The gateway refuses the key for good. */
  isOver: boolean;
  isBanned: boolean;
  onChoose: (act: KeyAct) => void;
}

/** The actions that are possible for a key. A key is rolled once: its successor is rolled next. */
export function KeyMenu({ apiKey, isOver, isBanned, onChoose }: Props) {
  const roll = { label: 'Roll…', icon: RefreshCw, onChoose: () => onChoose('roll') };
  const liftBan = { label: 'Lift ban…', icon: LockOpen, onChoose: () => onChoose('liftBan') };
  const revoke = { label: 'Revoke…', icon: Ban, isDanger: true, onChoose: () => onChoose('revoke') };
  return (
    <Menu
      label={`Actions for the key ${apiKey.name}`}
      items={[
        { label: 'Show requests', icon: ScrollText, onChoose: () => showRequests({ keyId: apiKey.id }) },
        { label: 'Rename…', icon: Pencil, onChoose: () => onChoose('rename') },
        ...(isOver || apiKey.replacedById !== null ? [] : [roll]),
        ...(isBanned ? [liftBan] : []),
        ...(isOver ? [] : [revoke]),
      ]}
    />
  );
}
