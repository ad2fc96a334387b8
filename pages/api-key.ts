const NAME = 'petstore.key';

/** The key that was typed, kept for this tab only: it ends with the tab, and no other one reads it. */
export const apiKey = {
  read: (): string => sessionStorage.getItem(NAME) ?? '',
  keep: (key: string): void => sessionStorage.setItem(NAME, key),
  forget: (): void => sessionStorage.removeItem(NAME),
};
