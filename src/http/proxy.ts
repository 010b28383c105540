import { BlockList, isIP, isIPv6 } from 'node:net';
import { Fault, quoted } from '../core/fault.ts';
import type { Connection } from './server.ts';

/** Where a request comes from, as far as that can be believed. */
export interface Origin {
  /** The client's address; `none` where a test calls the application without a port. */
  address: string;
  /** Whether the client's connection is encrypted. */
  isSecure: boolean;
}

/**
 * Anyone can send `X-Forwarded-For` and `X-Forwarded-Proto`, so they count only on connections from a proxy that was
 * named. Of several addresses the last one that is not such a proxy is the client: those before it are its own claim.
 */
export function createOriginReader(proxies: readonly string[]): (request: Request, connection?: Connection) => Origin {
  const trusted = parseRanges(proxies);
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (request, connection) => {
    const peer = connection?.incoming?.socket.remoteAddress;
    const address = peer === undefined ? 'none' : plainAddress(peer);
    const isSecure = new URL(request.url).protocol === 'https:';
    if (!isTrusted(address)) return { address, isSecure };
    const named = (request.headers.get('x-forwarded-for') ?? '').split(',').map((part) => plainAddress(part.trim()));
    const client = named.findLast((one) => !isTrusted(one));
    const protocol = request.headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase();
    return {
      address: client !== undefined && isIP(client) !== 0 ? client : address,
      isSecure: isSecure || protocol === 'https',
    };
  };
}

function parseRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits, ...rest] = range.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (version === 0 || rest.length > 0 || !(prefix >= 0 && prefix <= most)) {
      throw new Fault('usage', `${quoted(range)} is not a range of addresses.`, {
        hints: ['Name the proxy as `--trust-proxy 10.0.0.7`, `--trust-proxy 10.0.0.0/24` or `--trust-proxy fd00::/8`.'],
        data: { range },
      });
    }
    list.addSubnet(address, prefix, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** An IPv4 address as such, also where it came in over IPv6. */
function plainAddress(text: string): string {
  return text.replace(/^::ffff:(?=\d+\.)/i, '');
}
