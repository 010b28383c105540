/** The address of a PostgreSQL store. It may name several hosts, of which the one that can be written is used. */
export interface StoreAddress {
  /** The address of each host alone. */
  each: readonly URL[];
  /** Without user, password and options, for messages. */
  place: string;
}

/** Throws a `TypeError` if it is not an address: `URL` itself takes no list of hosts. */
export function parseStoreAddress(address: string): StoreAddress {
  const [, start = '', hosts = '', rest = ''] = /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/.exec(address) ?? [];
  const each = (hosts === '' ? [address] : hosts.split(',').map((host) => `${start}${host}${rest}`)).map(
    (one) => new URL(one),
  );
  const [first] = each;
  return { each, place: `${first?.protocol}//${each.map(({ host }) => host).join(',')}${first?.pathname}` };
}
