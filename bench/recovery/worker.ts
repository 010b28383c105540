import { appendFileSync } from 'node:fs';
import type { Adapter, Tool } from './adapter.ts';
import type { Move, Scenario } from './scenario.ts';
import { openWorld, type World } from './world.ts';

/** Where the worker kills itself: after a move, or at a write point inside it; otherwise its parent may kill it. */
export interface Order {
  tool: string;
  scenario: string;
  folder: string;
  installed: string;
  database: string;
  kill: { after: number } | { inside: number; point: number } | { never: true };
  /** The file for the start and end of each move. */
  reportFile: string;
}

export const FIRST_AGENT = 'first';

/** Makes the moves of a scenario one after the other and is killed on the way, without a chance to clean up. */
export async function work(order: Order, tool: Tool, scenario: Scenario): Promise<void> {
  const world = openWorld(order.folder);
  let current = -1;
  let point = 0;
  const { kill } = order;
  const between = (): void => {
    if ('inside' in kill && kill.inside === current && kill.point === point) die();
    point += 1;
  };
  const { folder, installed, database } = order;
  const options = { folder, installed, database, agent: FIRST_AGENT, between };
  const adapter = await tool.open(options);
  for (const [index, move] of scenario.moves.entries()) {
    current = index;
    point = 0;
    appendFileSync(order.reportFile, `${index} begins ${process.hrtime.bigint()}\n`);
    await make(move, scenario, adapter, world);
    world.acknowledge(index);
    appendFileSync(order.reportFile, `${index} ended ${process.hrtime.bigint()} ${point}\n`);
    if ('after' in kill && kill.after === index) die();
  }
  await adapter.close();
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

async function make(move: Move, scenario: Scenario, adapter: Adapter, world: World): Promise<void> {
  switch (move.do) {
    case 'begin':
      return adapter.begin(scenario);
    case 'start':
      return adapter.start(move.step);
    case 'work':
      return world.work(FIRST_AGENT, move.step, move.unit, move.file);
    case 'checkpoint':
      return adapter.checkpoint(move);
    case 'beginEffect':
      await adapter.beginEffect(move);
      return;
    case 'perform':
      return world.perform(FIRST_AGENT, move.effect);
    case 'endEffect':
      return adapter.endEffect(move);
    case 'decide':
      return adapter.decide(move);
    case 'redecide':
      return adapter.redecide ? adapter.redecide(move) : adapter.decide(move);
    case 'block':
      return adapter.block(move);
    case 'changePlan':
      return adapter.changePlan(move);
    case 'complete':
      return adapter.complete(move.step);
    default:
      move satisfies never;
  }
}
