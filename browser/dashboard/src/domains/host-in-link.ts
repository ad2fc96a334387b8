/** The host of a pasted link, and the rest of it, which a domain does not have. */
interface HostInLink {
  hostname: string;
  rest: string;
}

/** The host of a pasted link. Text that is no link stays as it is: the gateway judges it. */
export function hostInLink(typed: string): HostInLink {
  const text = typed.trim();
  const [, hostname, rest = ''] = /^(?:https?:\/\/)?([^\s/?#@:]+)((?::\d+)?(?:[/?#]\S*)?)$/i.exec(text) ?? [];
  return hostname === undefined ? { hostname: text, rest: '' } : { hostname, rest: rest === '/' ? '' : rest };
}
