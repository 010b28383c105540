import { at, counted, fixed, id, type Line, line, quote, quoteStart } from '../../line.ts';
import type { CommandFact, ProcessFact, Uncertain } from '../facts.ts';
import { EVERYTHING, listed, type Section } from './section.ts';

/** Side effects without a recorded end. Nothing is said of them that was not looked up. */
export function uncertainSection(effects: readonly Uncertain[], now: string, share: number): Section {
  const lines = effects.map((effect) => (chars: number): Line => {
    const kind = effect.irreversible ? line` (irreversible kind)` : '';
    return line`Uncertain: ${id(effect.id)}${kind} ${quoteStart(effect.name, chars)} began ${at(effect.at, now)}, no end was recorded. ${processLine(effect.process, now)}`;
  });
  return listed('uncertain', share, lines, { noun: fixed('uncertain effect'), command: EVERYTHING });
}

function processLine(process: ProcessFact, now: string): Line {
  switch (process.is) {
    case 'alive':
      return line`A process of it still runs on this machine (pid ${process.pid}, since ${at(process.since, now)}). Starting it again would run it twice at once.`;
    case 'none':
      return line`${process.isClientGone ? fixed('The client is gone; no') : fixed('No')} process of it was found on this machine now. Whether it took effect is unknown; running it again could do it twice.`;
    case 'unlisted':
      return line`${process.isClientGone ? fixed('The client is gone; processes') : fixed('Processes')} cannot be listed here, so it may still run.`;
    case 'elsewhere':
      return line`It ran on host ${quote(process.host, 'name')}; whether it still runs cannot be seen from here.`;
    case 'in-session':
      return line`It runs in session ${id(process.session)} now.`;
    default:
      return process satisfies never;
  }
}

/** The last failure that was not repaired, what was running, and the last check that passed. */
export function commandSection(commands: readonly CommandFact[], now: string, share: number): Section {
  const lines = commands.map(
    (command) =>
      (chars: number): Line =>
        commandLine(command, now, chars),
  );
  return listed('commands', share, lines, { noun: fixed('command'), command: fixed('`holdfast timeline`') });
}

function commandLine(command: CommandFact, now: string, chars: number): Line {
  const name = quoteStart(command.name, chars);
  switch (command.is) {
    case 'failed': {
      const { exitCode, changedAfter } = command;
      const status = exitCode === null ? line`, exit status not reported,` : line` exit ${exitCode}`;
      const changed = changedAfter > 0 ? line` ${counted(changedAfter, fixed('file'))} changed after it.` : '';
      return line`Failed: ${name}${status} at ${at(command.at, now)}; not run again.${changed}`;
    }
    case 'passed': {
      const status = command.exitCode === null ? '' : line` (exit ${command.exitCode})`;
      return line`Commands: ${name} passed${status} at ${at(command.at, now)}${holdsStill(command.changedAfter)}`;
    }
    case 'running':
      return line`Commands: ${name} was running when it was cut off; no result.`;
    case 'ended':
      return line`Commands: ${name} ended at ${at(command.at, now)}, exit status not reported.`;
    default:
      return command satisfies never;
  }
}

function holdsStill(changedAfter: number | null): Line {
  if (changedAfter === null) return line`.`;
  if (changedAfter === 0) return line`; no file was changed after it.`;
  const files = changedAfter === 1 ? line`1 file was` : line`${changedAfter} files were`;
  return line`; ${files} changed after it, so it may no longer hold.`;
}
