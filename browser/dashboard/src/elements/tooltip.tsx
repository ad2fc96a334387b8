import { Tooltip as Ark } from '@ark-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';

interface Props {
  content: ReactNode;
  /** A single element: the pointer over it, or the focus in it, shows the content. */
  children: ReactElement;
}

export function Tooltip({ content, children }: Props) {
  return (
    <Ark.Root
      openDelay={250}
      closeDelay={80}
      lazyMount
      unmountOnExit
      positioning={{ placement: 'top', gutter: 6, strategy: 'fixed' }}
    >
      <Ark.Trigger asChild>{children}</Ark.Trigger>
      <Ark.Positioner>
        <Ark.Content className="tooltip">{content}</Ark.Content>
      </Ark.Positioner>
    </Ark.Root>
  );
}
