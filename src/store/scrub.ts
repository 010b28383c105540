import { Fault } from '../core/fault.ts';

/** The erasure is recorded before its bytes are removed: a failure to remove them does not undo it. */
export async function scrubAfter(scrub: () => Promise<void>): Promise<void> {
  try {
    await scrub();
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    throw new Fault(
      thrown.code,
      `The text was erased, but copies of it may be left in the database. ${thrown.message}`,
      {
        hints: ['Run the same command again; it removes them.', ...thrown.hints.slice(-1)],
        data: { ...thrown.data, recorded: 'yes' },
        cause: thrown,
      },
    );
  }
}
