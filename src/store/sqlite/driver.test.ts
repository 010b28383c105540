import { describe, expect, it } from 'vitest';
import { isSafe } from './driver.ts';

describe('the driver', () => {
  it('knows which versions of SQLite are safe with several writers', () => {
    const safe = ['3.51.3', '3.52.0', '3.50.7', '3.44.6', '4.0.0', '3.51.10'];
    const unsafe = ['', '3.51.2', '3.50.6', '3.50.4', '3.44.5', '3.45.9', '3.49.9', '2.9.9'];
    expect(safe.filter((version) => !isSafe(version))).toEqual([]);
    expect(unsafe.filter(isSafe)).toEqual([]);
  });
});
