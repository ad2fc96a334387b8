/** A `ref` of an element that scrolls sideways: its attributes `data-more-left` and `data-more-right` say where it has more. */
export function markHiddenSides(scroller: HTMLElement | null): (() => void) | undefined {
  if (!scroller) return;
  const mark = () => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller;
    // A zoomed page has parts of pixels.
    scroller.toggleAttribute('data-more-left', scrollLeft > 1);
    scroller.toggleAttribute('data-more-right', scrollLeft + clientWidth < scrollWidth - 1);
  };
  const sizes = new ResizeObserver(mark);
  for (const each of [scroller, ...scroller.children]) sizes.observe(each);
  scroller.addEventListener('scroll', mark, { passive: true });
  return () => {
    sizes.disconnect();
    scroller.removeEventListener('scroll', mark);
  };
}
