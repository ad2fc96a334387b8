import { Menu as Ark } from '@ark-ui/react/menu';
import { Ellipsis, type LucideIcon } from 'lucide-react';

interface Props {
  /** The name of the menu, for screen readers. */
  label: string;
  items: readonly { label: string; icon: LucideIcon; isDanger?: boolean; onChoose: () => void }[];
}

/** A button that opens a list of actions. */
export function Menu({ label, items }: Props) {
  return (
    <Ark.Root
      aria-label={label}
      positioning={{ placement: 'bottom-end', strategy: 'fixed' }}
      lazyMount
      unmountOnExit
      onSelect={({ value }) => items.find((item) => item.label === value)?.onChoose()}
    >
      <Ark.Trigger className="quiet icon small" aria-label={label}>
        <Ellipsis size={16} aria-hidden="true" />
      </Ark.Trigger>
      <Ark.Positioner>
        <Ark.Content className="menu">
          {items.map(({ label: name, icon: Icon, isDanger }) => (
            <Ark.Item key={name} value={name} className={isDanger ? 'menu-item danger-text' : 'menu-item'}>
              <Icon size={16} aria-hidden="true" /> {name}
            </Ark.Item>
          ))}
        </Ark.Content>
      </Ark.Positioner>
    </Ark.Root>
  );
}
