import { readdirSync, readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commands } from '../src/bin/interfaces.ts';
import { parseArguments } from '../src/cli/arguments.ts';
import { estimateTokens } from '../src/core/tokens.ts';
import { parseInput } from '../src/operations/operation.ts';

const tokens = (text: string): number => Math.max(estimateTokens(text), encode(text).length);

describe.each(readdirSync('skills'))('skill %s', (folder) => {
  const text = readFileSync(`skills/${folder}/SKILL.md`, 'utf8');
  const [, matter = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  const front = parse(matter) as { name: string; description: string };

  it('is named as its folder and says when to use it', () => {
    expect(front.name).toBe(folder);
    expect(front.name).toMatch(/^[a-z\d]+(-[a-z\d]+)*$/);
    expect(front.description).toMatch(/USE FOR:|Not for /);
    expect(front.description.length).toBeLessThanOrEqual(1024);
  });

  it('costs fewer than 500 tokens to trigger, and has at most 400 words', () => {
    const beginning = body.slice(0, body.indexOf('\n## ', body.indexOf('\n## ') + 1));
    expect(tokens(front.description + beginning)).toBeLessThan(500);
    expect(
      body
        .replace(/^\|[ -]+\|.*$|[`|#*-]/gm, ' ')
        .split(/\s+/)
        .filter(Boolean).length,
    ).toBeLessThanOrEqual(400);
  });

  it('names only existing commands, with words and flags they take', async () => {
    const quoted = [...body.matchAll(/`holdfast ([^`]+)`/g)].map((found) => found[1] as string);
    expect(quoted.length).toBeGreaterThan(8);
    for (const command of quoted) {
      const { operation, input } = await parseArguments(wordsOf(command), commands);
      expect(operation, command).not.toBeNull();
      // A command may be named alone, without its required input.
      if (operation && command.includes(' --')) parseInput(operation, input);
    }
  });
});

function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
