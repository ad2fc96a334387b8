/**
 * Stands in for the library that writes `<style>` elements to lock scrolling behind an open menu: the policy of the page
 * forbids them, and the page does not scroll.
 */
export const styleSingleton = () => () => null;
