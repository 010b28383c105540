import type { Token } from '../store/presence.ts';
import { Refusal } from './answer.ts';

export interface SlotLimits {
  /** How many one token may have open. */
  perToken: number;
  /** How many may be open in all. */
  total: number;
  /** Of these, only tokens with the scope maintain get the last ones, so that maintainers can look into it. */
  reserved: number;
}

/** Takes a place for a long-lived stream, and returns how to give it back. */
export type TakeSlot = (token: Token) => () => void;

export function createSlots(what: string, { perToken, total, reserved }: SlotLimits): TakeSlot {
  const open = new Map<string, number>();
  let all = 0;
  return (token) => {
    const mine = open.get(token.hash) ?? 0;
    if (mine >= perToken) {
      throw new Refusal(429, 'unavailable', `This token has ${mine} ${what} open, which is as many as one may have.`, [
        'Close one first.',
      ]);
    }
    if (all >= (token.scope === 'maintain' ? total : total - reserved)) {
      throw new Refusal(503, 'unavailable', `Too many ${what} are open.`, ['Try again a little later.']);
    }
    open.set(token.hash, mine + 1);
    all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      all -= 1;
      const left = (open.get(token.hash) ?? 1) - 1;
      if (left > 0) open.set(token.hash, left);
      else open.delete(token.hash);
    };
  };
}
