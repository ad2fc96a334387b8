/** The part of the package that the reference uses; it has no types of its own. */
declare module 'markdown-it' {
  export default class MarkdownIt {
    render(text: string): string;
    renderInline(text: string): string;
  }
}
