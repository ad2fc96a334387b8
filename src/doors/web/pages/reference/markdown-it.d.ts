/** The types of the part that the reference uses: the package has none. */
declare module 'markdown-it' {
  export default class MarkdownIt {
    render(text: string): string;
    renderInline(text: string): string;
  }
}
