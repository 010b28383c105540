import { expect, it } from 'vitest';
import { asFault, Fault } from './fault.ts';
import { NOTHING_WRITTEN, withRecorded } from './recorded.ts';

const refusal = new Fault('illegal', 'No.', { hints: ['Do that.'] });

it('says no for a refusal before anything was recorded', () => {
  expect(withRecorded(refusal, { events: 0 })).toMatchObject({
    code: 'illegal',
    hints: ['Do that.'],
    data: { recorded: 'no' },
  });
});

it('says yes when a part was recorded, and takes the claim back that nothing was', () => {
  const failed = new Fault('unavailable', 'Full.', {
    hints: [NOTHING_WRITTEN, 'Make room.'],
    data: { recorded: 'no' },
  });
  const fault = withRecorded(failed, { events: 2 });
  expect(fault.data).toEqual({ recorded: 'yes' });
  expect(fault.hints).toEqual([expect.stringContaining('A part'), 'Make room.']);
});

it('gives the key to repeat the command with where the outcome is unknown, and nowhere else', () => {
  const cutOff = new Fault('unavailable', 'Lost.', { hints: ['Look.'], data: { recorded: 'unknown' } });
  expect(withRecorded(cutOff, { events: 0 }, 'k-1')).toMatchObject({
    hints: ['Look.', 'Repeat the command with `--idempotency k-1`: it is recorded once.'],
    data: { recorded: 'unknown', key: 'k-1' },
  });
  expect(withRecorded(refusal, { events: 0 }, 'k-1').data).toEqual({ recorded: 'no' });
});

it('keeps unknown whatever was recorded before, and says it of an unexpected error', () => {
  const cutOff = new Fault('unavailable', 'Lost.', { data: { recorded: 'unknown' } });
  for (const events of [0, 3]) expect(withRecorded(cutOff, { events })).toBe(cutOff);
  expect(withRecorded(asFault(new Error('bug')), { events: 0 }).data).toEqual({ recorded: 'unknown' });
});
