/** An entry that a search of the reference can find. */
export interface SearchEntry {
  title: string;
  /** The page of the title. */
  page: string;
  url: string;
  /** Further words that find the entry. */
  text: string;
}
