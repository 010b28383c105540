import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Folder, newWorkspace } from './command-line.ts';

const library = fileURLToPath(new URL('../dist/lib/index.js', import.meta.url));

/** A process that takes the step, checkpoints it again and again, and prints each acknowledged checkpoint. */
function writer(folder: Folder, agent: string, step: string, count: number) {
  const script = `
    import { openHoldfast } from ${JSON.stringify(library)};
    const hf = await openHoldfast({ dir: ${JSON.stringify(folder.path)}, agent: '${agent}' });
    await hf.start({ key: '${step}' });
    for (let number = 1; number <= ${count}; number++) {
      const { version } = await hf.checkpoint({ name: '${agent}-' + number });
      process.stdout.write(version + ' ${agent}-' + number + '\\n');
    }
    await hf.close();`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: folder.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function linesOf(
  child: ReturnType<typeof writer>,
  onLine: (count: number) => void = () => undefined,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    onLine(lines.length);
  }
  return lines;
}

function recorded(folder: Folder): Map<number, string> {
  const events = folder.data('log', '--limit', '100000')['events'] as {
    version: number;
    type: string;
    body: { name: string };
  }[];
  return new Map(
    events.filter((event) => event.type === 'step.checkpointed').map((event) => [event.version, event.body.name]),
  );
}

describe('many writers on one run', () => {
  it('records every acknowledged checkpoint of 8 processes', async () => {
    const folder = newWorkspace();
    const agents = Array.from({ length: 8 }, (_, index) => `agent${index + 1}`);
    for (const agent of agents) folder.data('plan', 'add', `w-${agent}`, `Work of ${agent}`);
    const lines = (await Promise.all(agents.map((agent) => linesOf(writer(folder, agent, `w-${agent}`, 50))))).flat();
    const found = recorded(folder);
    expect(lines).toHaveLength(400);
    expect(found.size).toBe(400);
    for (const line of lines) {
      const [version, name] = line.split(' ');
      expect(found.get(Number(version))).toBe(name);
    }
    expect(folder.run('doctor').code).toBe(0);
  });

  it('loses nothing when 8 command lines are started at once', async () => {
    const folder = newWorkspace();
    const rounds = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const notes = [];
        for (let round = 0; round < 5; round++)
          notes.push(await folder.start('note', `note ${index}.${round}`, '--json'));
        return notes;
      }),
    );
    const ids = rounds.flat().map((ran) => String(ran.json.data['id']));
    expect(new Set(ids).size).toBe(40);
    expect(folder.data('search', 'note', '--limit', '100')['results']).toHaveLength(40);
    expect(folder.run('doctor').code).toBe(0);
  });
});

describe('kill -9 of a writer', () => {
  it('keeps every acknowledged event, whenever it happens', async () => {
    const folder = newWorkspace();
    const kills = Number(process.env['TEST_KILLS'] ?? 12);
    const acknowledged: string[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const child = writer(folder, 'claude', 't1', 100_000);
      // At a random moment after some acknowledgements: in the middle of a write as often as between writes.
      const after = 1 + Math.floor(Math.random() * 6);
      const lines = await linesOf(child, (count) => {
        if (count === after) setTimeout(() => child.kill('SIGKILL'), Math.random() * 3);
      });
      acknowledged.push(...lines);
    }
    const found = recorded(folder);
    for (const line of acknowledged) {
      const [version, name] = line.split(' ');
      expect(found.get(Number(version))).toBe(name);
    }
    expect(acknowledged.length).toBeGreaterThan(kills);
    expect(folder.data('doctor')['findings']).toEqual([]);
  }, 300_000);
});
