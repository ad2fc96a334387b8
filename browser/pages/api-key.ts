const NAME = 'petstore.key';

/** The typed key, stored for this tab only: it ends with the tab, and no other tab can read it. */
export const apiKey = {
  read: (): string => sessionStorage.getItem(NAME) ?? '',
  keep: (key: string): void => sessionStorage.setItem(NAME, key),
  forget: (): void => sessionStorage.removeItem(NAME),
};
