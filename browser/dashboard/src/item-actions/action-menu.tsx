import { Zap } from 'lucide-react';
import type { NounAction } from '../../../nouns.js';
import { Menu } from '../elements/menu.js';

interface Props {
  /** Of the item, for people. */
  name: string;
  /** Those that the key allows. */
  actions: readonly NounAction[];
  onChoose: (action: NounAction) => void;
}

/** The actions of an item. */
export function ActionMenu({ name, actions, onChoose }: Props) {
  if (actions.length === 0) return null;
  return (
    <Menu
      label={`Actions for ${name}`}
      items={actions.map((action) => ({
        label: action.label,
        icon: Zap,
        onChoose: () => onChoose(action),
      }))}
    />
  );
}
