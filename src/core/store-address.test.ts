import { describe, expect, it } from 'vitest';
import { parseStoreAddress } from './store-address.ts';

const parsed = (address: string): unknown => {
  const { each, place } = parseStoreAddress(address);
  return { each: each.map(({ href }) => href), place };
};

describe('the address of a store', () => {
  it('names one host', () => {
    expect(parsed('postgres://ada:secret@db.example.com/work?sslmode=require')).toEqual({
      each: ['postgres://ada:secret@db.example.com/work?sslmode=require'],
      place: 'postgres://db.example.com/work',
    });
  });

  it('names several hosts, each with its own port', () => {
    expect(parsed('postgres://ada:p%2Cw@one:5432,two:5433,[::1]/work?x=1')).toEqual({
      each: [
        'postgres://ada:p%2Cw@one:5432/work?x=1',
        'postgres://ada:p%2Cw@two:5433/work?x=1',
        'postgres://ada:p%2Cw@[::1]/work?x=1',
      ],
      place: 'postgres://one:5432,two:5433,[::1]/work',
    });
  });

  it('is refused if one of its hosts is not one', () => {
    expect(() => parseStoreAddress('postgres://one:5432,two:port/work')).toThrow(TypeError);
    expect(() => parseStoreAddress('db.example.com')).toThrow(TypeError);
  });
});
