import { type ReactNode, useEffect, useRef } from 'react';
import { GATEWAY_NAME } from '../../../gateway.js';

interface Props {
  /** Also the title of the browser tab. */
  title: string;
  /** Shown instead of the title. */
  heading?: ReactNode;
  /** Beside the heading, also on a narrow screen. */
  badge?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

let isFirst = true;

/**
 * A page with its heading. The heading gets the focus when the user comes from another page, so that screen readers
 * announce it.
 */
export function Page({ title, heading = title, badge, actions, children }: Props) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${GATEWAY_NAME}`;
  }, [title]);
  useEffect(() => {
    if (!isFirst) ref.current?.focus({ preventScroll: true });
    isFirst = false;
    window.scrollTo(0, 0);
  }, []);
  return (
    <>
      <header className="page-head">
        <h1 ref={ref} tabIndex={-1}>
          {heading}
        </h1>
        {badge && <div className="page-badge">{badge}</div>}
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
