import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'holdfast-signature';

/**
 * `t=SECONDS,v1=HEX`: the HMAC-SHA-256 over the time, a dot and the exact body. With the time in it a receiver can refuse a
 * notice that was recorded and is sent again later.
 */
export function signNotice(secret: string, body: string, now: string): string {
  const seconds = Math.floor(Date.parse(now) / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
