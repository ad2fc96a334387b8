/**
 * Replaces the library that writes `<style>` elements to lock scrolling behind an open menu: the page's policy forbids
 * them, and the page does not scroll.
 */
export const styleSingleton = () => () => null;
