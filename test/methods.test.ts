import { readdirSync, readFileSync } from 'node:fs';
import type * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { renderMethods } from '../scripts/render-methods.ts';
import type { CallOptions } from '../src/call-options.ts';
import type { Methods } from '../src/methods/methods.ts';
import { type OperationName, operationNames, type operations } from '../src/operations/index.ts';

/** The methods as they follow from the operations. */
type Loaded<N extends OperationName> = Awaited<ReturnType<(typeof operations)[N]>>;
type Method<O> = O extends { input: infer I extends v.GenericSchema; output: infer R extends v.GenericSchema }
  ? Record<string, never> extends v.InferInput<I>
    ? (input?: v.InferInput<I>, options?: CallOptions) => Promise<v.InferOutput<R>>
    : (input: v.InferInput<I>, options?: CallOptions) => Promise<v.InferOutput<R>>
  : never;
type Grouped = Exclude<Extract<OperationName, `${string}.${string}`>, `state.${string}`>;
type GroupOf<N extends string> = N extends `${infer G}.${string}` ? G : never;
type Derived = { [N in Exclude<OperationName, `${string}.${string}`>]: Method<Loaded<N>> } & {
  [G in GroupOf<Grouped>]: {
    [N in Extract<Grouped, `${G}.${string}`> as N extends `${G}.${infer M}` ? M : never]: Method<Loaded<N>>;
  };
};

describe('the generated methods of the library', () => {
  it('equal what the operations say (`node scripts/run.mjs scripts/methods.ts` writes them)', async () => {
    const rendered = await renderMethods((path) => readFileSync(path, 'utf8'));
    expect(readdirSync('src/methods').sort()).toEqual([...rendered.keys()].sort());
    for (const [name, text] of rendered)
      expect([name, readFileSync(`src/methods/${name}`, 'utf8')]).toEqual([name, text]);
  });

  it('have a comment for each operation and each of its fields', () => {
    const text = readdirSync('src/methods')
      .map((name) => readFileSync(`src/methods/${name}`, 'utf8'))
      .join('\n');
    for (const name of operationNames.filter((one) => !one.startsWith('state.')))
      expect([name, text.includes(`   */\n  ${name.split('.').at(-1)}(`)]).toEqual([name, true]);
    expect(text).not.toContain('See the type.');
  });

  it('take and answer what the operations do', () => {
    // Checked by the compiler: each is assignable to the other.
    const derived = (methods: Methods): Derived => methods;
    const generated = (methods: Derived): Methods => methods;
    expect([derived, generated]).toHaveLength(2);
  });
});
